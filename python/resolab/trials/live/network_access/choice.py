"""The choice of a method by facts alone, and the command enabling a better method.

For: `choose_access`, pure. Not for: examining the machine (`facts`) or setting the method up (`access`).
"""

import msgspec

from resolab.basics.records import LiveWay
from resolab.trials.live.network_access.facts import MachineFacts, PortState


class AccessChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A method, in words for the record and for people."""

    way: LiveWay
    note: str
    """The method and its cost, in one sentence."""
    missing: str | None = None
    """The obstacle to a better method, in one sentence ending with the command to remove the obstacle."""


EXACT = "a mount namespace on the machine's own network, the stub on port 53 of a loopback address"
NOTES = {
    LiveWay.ROOT: f"as root: {EXACT}; browsers run as root too, Chromium without its sandbox",
    LiveWay.USER_CAPABILITY: f"as an ordinary user: {EXACT}",
    LiveWay.SLIRP4NETNS: (
        "browsers behind slirp4netns, the stub's own connections on the machine's network: look-ups are exact, "
        "connections of pages open 0.2 ms later"
    ),
    LiveWay.DNS_ONLY: "no stub on port 53: pages load only over what browsers ask by themselves",
}


def choose_access(facts: MachineFacts) -> AccessChoice:
    """Choose the best method permitted by the machine."""
    if facts.own_view and facts.port_53 is PortState.FREE:
        way = LiveWay.ROOT if facts.is_root else LiveWay.USER_CAPABILITY
        return AccessChoice(way=way, note=NOTES[way])
    if facts.own_view and facts.slirp4netns and facts.tun:
        return AccessChoice(way=LiveWay.SLIRP4NETNS, note=NOTES[LiveWay.SLIRP4NETNS], missing=_describe_missing(facts))
    note = NOTES[LiveWay.DNS_ONLY]
    if not facts.own_view:
        note += ", DoH and DoH3, for they cannot have a resolv.conf of their own either"
    else:
        note += ", Do53 by resolv.conf, DoH and DoH3"
    return AccessChoice(way=LiveWay.DNS_ONLY, note=note, missing=_describe_missing(facts))


def _describe_missing(facts: MachineFacts) -> str:
    if not facts.own_view:
        return _describe_missing_view(facts)
    if facts.port_53 is PortState.TAKEN:
        what = "some program listens on port 53 of every address; have it listen on its own only, or stop it"
        return f"{what}: sudo ss -lnup 'sport = 53' says which it is"
    if facts.capabilities_void:
        return f"port 53 is closed to this user: {format_sysctl('net.ipv4.ip_unprivileged_port_start=53')}"
    return f"port 53 is closed to this user: sudo setcap cap_net_bind_service+ep {facts.core}"


def _describe_missing_view(facts: MachineFacts) -> str:
    what = "programs cannot be given a resolv.conf of their own"
    if facts.namespace_setting is not None:
        return f"{what}, for user namespaces are forbidden: {format_sysctl(facts.namespace_setting)}"
    return f"{what} ({facts.own_view_refusal or 'no reason given'}); as root they can: sudo resolab"


def format_sysctl(setting: str) -> str:
    """Return the command to change a setting until the machine restarts."""
    return f"sudo sysctl -w {setting}"
