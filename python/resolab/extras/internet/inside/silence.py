"""Hold UDP ports without ever answering: `silence.py ADDRESS PORT...`. For: transports offered but dropped."""

import signal
import socket
import sys


def main() -> None:
    """Hold the ports until killed."""
    held = []
    for port in sys.argv[2:]:
        one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
        one.bind((sys.argv[1], int(port)))
        held.append(one)
    signal.pause()


if __name__ == "__main__":
    main()
