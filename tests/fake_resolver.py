"""A resolver for tests, in few lines: answers A queries over UDP at its address, or fails as told.

For: `[software.NAME]` in tests, as configuration with placeholders. Not for: measuring.
"""

import socket
import sys

MODE = sys.argv[1]
if MODE == "ends":
    sys.exit("error: line 3: unknown word 'listn'")
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
sock.bind(("@ADDRESS@", 53))
sys.stderr.write("listening\n")
sys.stderr.flush()
while True:
    query, client = sock.recvfrom(4096)
    end = query.index(0, 12) + 5
    code = 2 if MODE == "servfail" else 0
    answers = 0 if code else 1
    head = query[:2] + bytes([0x81, 0x80 | code]) + b"\0\1" + bytes([0, answers]) + b"\0\0\0\0"
    record = b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\x0a\x4d\1\1" if answers else b""
    sock.sendto(head + query[12:end] + record, client)
    if MODE == "dies" and b"gstatic" not in query:  # The first question after those for readiness fills the cache.
        sock.close()
        sys.exit("fatal: out of luck")
