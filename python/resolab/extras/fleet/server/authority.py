"""The fleet's own authority: permission to serve and to take part, by certificates.

For: making the authority, and credentials signed by the authority. Not for: their storage (`folder`), the
permissions of each (`config`).

A credential is a certificate and its key in a single PEM text; the server identifies the holder by the certificate's
only DNS name.
"""

import ipaddress
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

VALID_BEFORE = timedelta(days=1)
"""The validity before now, so a machine with a slow clock can take part at once."""
VALID_FOR = timedelta(days=3650)
OPERATOR = "operator.fleet"
"""The name of the fleet's operator."""


@dataclass(frozen=True, slots=True)
class FleetAuthority:
    """The signer of every certificate of a fleet."""

    certificate: str
    """The authority's certificate in PEM, trusted by all participants."""
    key: str
    """The authority's key in PEM; any holder of the key can make credentials."""

    def server_credential(self, names: Iterable[str], now: datetime) -> str:
        """Make the server's credential, for the names and addresses used to reach the server."""
        return self._credential("server.fleet", [_general_name(one) for one in names], server=True, now=now)

    def client_credential(self, name: str, now: datetime) -> str:
        """Make a credential for a client known to the server by this name."""
        return self._credential(name, [x509.DNSName(name)], server=False, now=now)

    def _credential(self, title: str, names: list[x509.GeneralName], *, server: bool, now: datetime) -> str:
        issuer = x509.load_pem_x509_certificate(self.certificate.encode())
        signing = serialization.load_pem_private_key(self.key.encode(), password=None)
        assert isinstance(signing, ec.EllipticCurvePrivateKey)
        key = _new_key()
        purpose = ExtendedKeyUsageOID.SERVER_AUTH if server else ExtendedKeyUsageOID.CLIENT_AUTH
        signer = x509.AuthorityKeyIdentifier.from_issuer_public_key(signing.public_key())
        builder = _builder(_title(title), issuer.subject, key, now)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_key_usage(signs_certificates=False), critical=True)
        builder = builder.add_extension(x509.ExtendedKeyUsage([purpose]), critical=False)
        builder = builder.add_extension(x509.SubjectAlternativeName(names), critical=False)
        builder = builder.add_extension(signer, critical=False)
        return _pem(builder.sign(signing, hashes.SHA256())) + _key_pem(key)


def make_authority(now: datetime) -> FleetAuthority:
    """Make a new, unique authority."""
    key = _new_key()
    # With a number in its name two fleets' authorities are told apart where only names are shown.
    title = _title(f"resolab fleet {x509.random_serial_number():x}"[:40])
    builder = _builder(title, title, key, now)
    builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
    builder = builder.add_extension(_key_usage(signs_certificates=True), critical=True)
    identifier = x509.SubjectKeyIdentifier.from_public_key(key.public_key())
    builder = builder.add_extension(identifier, critical=False)
    return FleetAuthority(_pem(builder.sign(key, hashes.SHA256())), _key_pem(key))


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _title(common_name: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _general_name(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(
    subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePrivateKey, now: datetime
) -> x509.CertificateBuilder:
    builder = x509.CertificateBuilder().subject_name(subject).issuer_name(issuer).public_key(key.public_key())
    builder = builder.serial_number(x509.random_serial_number())
    return builder.not_valid_before(now - VALID_BEFORE).not_valid_after(now + VALID_FOR)


def _key_usage(*, signs_certificates: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not signs_certificates,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=signs_certificates,
        crl_sign=signs_certificates,
        encipher_only=False,
        decipher_only=False,
    )


def _pem(certificate: x509.Certificate) -> str:
    return certificate.public_bytes(serialization.Encoding.PEM).decode()


def _key_pem(key: ec.EllipticCurvePrivateKey) -> str:
    form = serialization.PrivateFormat.PKCS8
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
