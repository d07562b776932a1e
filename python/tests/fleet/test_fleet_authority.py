"""Credentials as OpenSSL judges them, and the files they are kept in."""

import ssl
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID

from resolab.basics.errors import ConfigurationError
from resolab.extras.fleet.invitation import Invitation, invite, read_invitation, withdraw
from resolab.extras.fleet.server.authority import OPERATOR, make_authority
from resolab.extras.fleet.server.folder import ServerFolder

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def certificate_of(pem: str) -> x509.Certificate:
    return x509.load_pem_x509_certificate(pem.encode())


def names_of(pem: str) -> list[str]:
    names = certificate_of(pem).extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return [str(one.value) for one in names]


def handshake(server_pem: str, trusted: str, client_pem: str, client_trusted: str, host: str, tmp_path: Path) -> str:
    """Shake hands in memory and give the client's name as the server sees it."""
    server = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    server.load_verify_locations(cadata=trusted)
    server.verify_mode = ssl.CERT_REQUIRED
    client = ssl.create_default_context(cadata=client_trusted)
    # What Python 3.13 asks of every chain.
    for context, pem in ((server, server_pem), (client, client_pem)):
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        file = tmp_path / "one.pem"
        file.write_text(pem)
        context.load_cert_chain(file)
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    at_server = server.wrap_bio(to_server, to_client, server_side=True)
    at_client = client.wrap_bio(to_client, to_server, server_hostname=host)
    done = [False, False]
    for _ in range(10):
        for number, side in enumerate((at_client, at_server)):
            try:
                side.do_handshake()
                done[number] = True
            except ssl.SSLWantReadError:
                pass
    assert all(done)
    seen = at_server.getpeercert()
    assert seen is not None
    return str(seen["subjectAltName"][0][1])


def test_credentials_are_good_in_a_handshake_and_name_their_holder(tmp_path: Path) -> None:
    authority = make_authority(datetime.now(UTC))
    now = datetime.now(UTC)
    server = authority.server_credential(["fleet.example", "192.0.2.7", "2001:db8::1"], now)
    client = authority.client_credential("fra.agent.fleet", now)
    for host in ("fleet.example", "192.0.2.7", "2001:db8::1"):
        seen = handshake(server, authority.certificate, client, authority.certificate, host, tmp_path)
        assert seen == "fra.agent.fleet"


def test_another_authority_and_another_name_are_refused(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    ours, theirs = make_authority(now), make_authority(now)
    server = ours.server_credential(["127.0.0.1"], now)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, ours.certificate, theirs.client_credential("x", now), ours.certificate, "127.0.0.1", tmp_path)
    good = ours.client_credential("x", now)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, ours.certificate, good, theirs.certificate, "127.0.0.1", tmp_path)
    with pytest.raises(ssl.SSLCertVerificationError):
        handshake(server, ours.certificate, good, ours.certificate, "127.0.0.2", tmp_path)


def test_an_agents_credential_cannot_serve(tmp_path: Path) -> None:
    now = datetime.now(UTC)
    authority = make_authority(now)
    agent = authority.client_credential("127.0.0.1", now)
    with pytest.raises(ssl.SSLCertVerificationError, match="purpose"):
        handshake(agent, authority.certificate, agent, authority.certificate, "127.0.0.1", tmp_path)


def test_certificates_are_of_p256_and_valid_from_yesterday_for_ten_years() -> None:
    authority = make_authority(NOW)
    for pem in (authority.certificate, authority.client_credential("a", NOW), authority.server_credential(["b"], NOW)):
        certificate = certificate_of(pem)
        key = certificate.public_key()
        assert isinstance(key, ec.EllipticCurvePublicKey)
        assert isinstance(key.curve, ec.SECP256R1)
        assert certificate.not_valid_before_utc == NOW - timedelta(days=1)
        assert certificate.not_valid_after_utc == NOW + timedelta(days=3650)
    usage = certificate_of(authority.client_credential("a", NOW)).extensions.get_extension_for_class(
        x509.ExtendedKeyUsage
    )
    assert list(usage.value) == [ExtendedKeyUsageOID.CLIENT_AUTH]


def test_a_folder_is_its_owners_alone_and_says_how_it_is_reached(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path / "fleet", "0.0.0.0", 4222, ["fleet.example", "192.0.2.7"])
    assert stat.S_IMODE(folder.path.stat().st_mode) == 0o700
    for file in folder.path.iterdir():
        assert stat.S_IMODE(file.stat().st_mode) == (0o700 if file.is_dir() else 0o600), file
    assert folder.url == "tls://fleet.example:4222"
    assert folder.operator_url == "tls://127.0.0.1:4222"
    assert names_of((folder.path / "server.pem").read_text()) == ["fleet.example", "192.0.2.7", "127.0.0.1"]
    assert names_of(folder.operator_credential()) == [OPERATOR]
    again = ServerFolder.open(folder.path)
    assert again.url == folder.url
    assert again.read_authority() == folder.read_authority()


def test_a_folder_is_made_once_and_must_be_reachable(tmp_path: Path) -> None:
    ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    with pytest.raises(ConfigurationError, match="there is one"):
        ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    with pytest.raises(ConfigurationError, match="--name"):
        ServerFolder.create(tmp_path / "other", "0.0.0.0", 4222, ["0.0.0.0"])
    with pytest.raises(ConfigurationError, match="could not find a fleet"):
        ServerFolder.open(tmp_path / "nothing")


def test_moving_keeps_the_authority_and_everybody_invited(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    invite(folder, "fra")
    moved = folder.change_address("::", 5222, ["new.example"])
    assert moved.url == "tls://new.example:5222"
    assert moved.operator_url == "tls://[::1]:5222"
    assert moved.read_authority() == folder.read_authority()
    assert ServerFolder.open(tmp_path).list_invited() == ["fra"]
    assert names_of((tmp_path / "server.pem").read_text()) == ["new.example", "::1"]


def test_an_invitation_is_one_secret_file(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    file = invite(folder, "fra-1_b")
    assert file.name == "fra-1_b.invitation.toml"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    invitation = read_invitation(file)
    assert (invitation.vantage, invitation.url) == ("fra-1_b", "tls://127.0.0.1:4222")
    assert invitation.authority == folder.read_authority()
    assert names_of(invitation.credential) == ["fra-1_b.agent.fleet"]
    assert "PRIVATE KEY" in invitation.credential


def test_a_second_invitation_is_another_credential_and_the_first_is_void(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    first = read_invitation(invite(folder, "fra"))
    withdraw(folder, "fra")
    assert folder.list_invited() == []
    assert '"fra.agent.fleet"' not in folder.config_file.read_text()
    second = read_invitation(invite(folder, "fra"))
    assert names_of(first.credential) != names_of(second.credential)
    assert '"fra.agent.fleet"' not in folder.config_file.read_text()
    assert f'"{names_of(second.credential)[0]}"' in folder.config_file.read_text()
    assert folder.list_invited() == ["fra"]


def test_withdrawing_removes_the_invitation_and_needs_one(tmp_path: Path) -> None:
    folder = ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    file = invite(folder, "fra")
    withdraw(folder, "fra")
    assert not file.exists()
    for name in ("fra", "syd"):
        with pytest.raises(ConfigurationError, match=f"could not withdraw {name}"):
            withdraw(folder, name)


@pytest.mark.parametrize("name", ["", "FRA", "../x", "a.b", "a*", "x" * 41, "lab"])
def test_names_that_lead_elsewhere_are_not_invited(tmp_path: Path, name: str) -> None:
    folder = ServerFolder.create(tmp_path, "127.0.0.1", 4222, [])
    with pytest.raises(ConfigurationError, match="could not invite"):
        invite(folder, name)
    assert folder.members() == []


@pytest.mark.parametrize(
    "text",
    [
        "not toml [",
        "vantage = 'fra'",
        "vantage='../x'\nurl='tls://a:1'\nauthority=''\ncredential=''",
        "vantage='fra'\nurl='nats://a:1'\nauthority=''\ncredential=''",
        "vantage='fra'\nurl='tls://a:1'\nauthority=''\ncredential=''\nrun='rm'",
    ],
)
def test_what_is_no_invitation_is_refused_in_a_line(tmp_path: Path, text: str) -> None:
    file = tmp_path / "x.invitation.toml"
    file.write_text(text)
    with pytest.raises(ConfigurationError, match="could not read invitation") as refused:
        read_invitation(file)
    assert "\n" not in str(refused.value)


def test_an_invitation_cannot_lead_out_of_its_subjects() -> None:
    with pytest.raises(ValueError, match="vantage point"):
        Invitation(vantage="a.>", url="tls://a:1", authority="", credential="")
