"""A resolver for tests, in few lines: answers A queries over UDP at its address, or fails as told.

For: `[software.NAME]` in tests, as configuration with placeholders. Not for: measuring.
"""

import socket
import ssl
import subprocess
import sys
import threading
from pathlib import Path


def serve_wrong_name() -> None:
    """Offer DoT with a certificate of another name and another authority."""
    command = "openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=other.test"
    subprocess.run([*command.split(), "-keyout", "other.key", "-out", "other.pem"], check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain("other.pem", "other.key")
    listener = socket.create_server(("@ADDRESS@", 853))
    while True:
        connection, _ = listener.accept()
        try:
            context.wrap_socket(connection, server_side=True).close()
        except OSError:
            connection.close()


MODE = sys.argv[1]
if MODE == "ends":
    sys.exit("error: line 3: unknown word 'listn'")
if MODE == "wrong-name":
    threading.Thread(target=serve_wrong_name, daemon=True).start()
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
sock.bind(("@ADDRESS@", 53))
sys.stderr.write("listening\n")
sys.stderr.flush()
COUNT = Path("count")  # In the folder of the software, as the cache of other resolvers.
while True:
    query, client = sock.recvfrom(4096)
    end = query.index(0, 12) + 5
    later = b"gstatic" not in query  # Readiness is asked for a name of gstatic.
    count = int(COUNT.read_text()) if COUNT.exists() else 0
    if later:
        count += 1
        COUNT.write_text(str(count))
    fails = MODE == "servfail" or (later and (MODE == "servfail-later" or (MODE == "servfail-once" and count == 1)))
    code = 2 if fails else 0
    answers = 0 if code else 1
    head = query[:2] + bytes([0x81, 0x80 | code]) + b"\0\1" + bytes([0, answers]) + b"\0\0\0\0"
    last = count if MODE in {"counts", "servfail-once"} else 1
    record = b"\xc0\x0c\0\1\0\1\0\0\1\x2c\0\4\x0a\x4d\1" + bytes([last]) if answers else b""
    sock.sendto(head + query[12:end] + record, client)
    if MODE == "dies" and later:  # The first question after those for readiness fills the cache.
        sock.close()
        sys.exit("fatal: out of luck")
