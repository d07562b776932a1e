"""A certificate authority for servers of tests."""

import datetime as dt
import ipaddress
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

DAY = dt.timedelta(days=1)


class Authority:
    """Signs certificates for addresses."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._folder = folder
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, folder.name)])
        constraints = x509.BasicConstraints(ca=True, path_length=None)
        builder = self._builder(self._name, self._key).add_extension(constraints, critical=True)
        self.file = folder / "ca.pem"
        self.file.write_bytes(builder.sign(self._key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))

    def certificate(self, address: str) -> Path:
        """Key and certificate in one file."""
        key = ec.generate_private_key(ec.SECP256R1())
        names = x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))])
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, address)])
        certificate = self._builder(subject, key).add_extension(names, critical=False).sign(self._key, hashes.SHA256())
        file = self._folder / f"{address}.pem"
        pem = serialization.Encoding.PEM
        private = serialization.PrivateFormat.PKCS8
        file.write_bytes(key.private_bytes(pem, private, serialization.NoEncryption()) + certificate.public_bytes(pem))
        return file

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePrivateKey) -> x509.CertificateBuilder:
        now = dt.datetime.now(dt.UTC)
        return x509.CertificateBuilder(
            self._name, subject, key.public_key(), x509.random_serial_number(), now - DAY, now + DAY
        )
