"""Registered names of DNS record types and classes (IANA, Domain Name System Parameters, 2026-11).

For: telling types and classes from domain names on a command line with both. Not for: their numbers; resolab-core has
the numbers.
"""

import re

RECORD_TYPES = frozenset((
    "A", "NS", "MD", "MF", "CNAME", "SOA", "MB", "MG", "MR", "NULL", "WKS", "PTR", "HINFO", "MINFO", "MX", "TXT", "RP",
    "AFSDB", "X25", "ISDN", "RT", "NSAP", "NSAP-PTR", "SIG", "KEY", "PX", "GPOS", "AAAA", "LOC", "NXT", "EID", "NIMLOC",
    "SRV", "ATMA", "NAPTR", "KX", "CERT", "A6", "DNAME", "SINK", "OPT", "APL", "DS", "SSHFP", "IPSECKEY", "RRSIG",
    "NSEC", "DNSKEY", "DHCID", "NSEC3", "NSEC3PARAM", "TLSA", "SMIMEA", "HIP", "NINFO", "RKEY", "TALINK", "CDS",
    "CDNSKEY", "OPENPGPKEY", "CSYNC", "ZONEMD", "SVCB", "HTTPS", "DSYNC", "HHIT", "BRID", "SPF", "UINFO", "UID", "GID",
    "UNSPEC", "NID", "L32", "L64", "LP", "EUI48", "EUI64", "NXNAME", "TKEY", "TSIG", "IXFR", "AXFR", "MAILB", "MAILA",
    "ANY", "URI", "CAA", "AVC", "DOA", "AMTRELAY", "RESINFO", "WALLET", "CLA", "IPN", "TA", "DLV",
))  # fmt: skip
CLASSES = frozenset(("IN", "CH", "HS"))
_NUMBERED = re.compile(r"(TYPE|CLASS)[0-9]{1,5}")


def is_record_type(word: str) -> bool:
    """Return True when a word is a type, by name or as `TYPE65280` (RFC 3597 section 5), in any case."""
    return word.upper() in RECORD_TYPES or _read_number(word) == "TYPE"


def is_class(word: str) -> bool:
    """Return True when a word is a class, by name or as `CLASS32`, in any case."""
    return word.upper() in CLASSES or _read_number(word) == "CLASS"


def _read_number(word: str) -> str | None:
    found = _NUMBERED.fullmatch(word.upper())
    return None if found is None else found[1]
