"""The combinations of levels impossible in any browser, and the errors of a plan without their exclusion.

For: refusing a plan before its run, in one line with the exclusion to add. Not for: driving anything.
"""

import functools
from collections.abc import Iterator, Sequence
from dataclasses import replace

from resolab.basics.errors import ConfigurationError
from resolab.basics.protocols import (
    OVER_HTTP,
    WITHOUT_CONNECTION,
    WITHOUT_HANDSHAKE,
    WITHOUT_HTTP,
    transport_label,
)
from resolab.basics.records import (
    BrowserKind,
    ConnectionSharing,
    ConnectionState,
    DnsTransport,
    PageSpeculation,
    ResolverCache,
    ResolverPath,
    TrialKind,
)
from resolab.basics.toml_text import value_text
from resolab.plan.analysis import Estimand
from resolab.plan.comparison import ComparisonKind
from resolab.plan.condition import Baseline, Condition, list_needed_factors
from resolab.plan.expectation import ExpectationKind
from resolab.plan.factors import NAMED_ORDER, Selection, format_level, list_allowed_words, selects
from resolab.plan.impossible import ImpossibleLevels
from resolab.plan.model import Plan
from resolab.plan.preset_levels import read_presets
from resolab.plan.settings import DecisionCriterion, StopRule, StopSettings
from resolab.plan.software.rules import find_impossible
from resolab.plan.study import find_study


def _join_names(transports: Sequence[str], joint: str) -> str:
    *first, last = (transport_label(one) for one in transports)
    return f"{', '.join(first)} {joint} {last}" if first else last


def _but(factor: str, *words: str) -> tuple[str, ...]:
    """List a factor's other levels: a new level is refused until declared possible."""
    return tuple(word for word in list_allowed_words(factor) if word not in words)


_CHROMIUM, _FIREFOX = (BrowserKind.CHROMIUM,), (BrowserKind.FIREFOX,)
_SHELL = (BrowserKind.CHROMIUM_HEADLESS_SHELL,)
_BROWSERS_SPEAK = (DnsTransport.DOUDP, DnsTransport.DOH, DnsTransport.DOH3)
"""The transports of browsers' own resolvers."""
_BEYOND_BROWSERS = _but("dns_transport", *_BROWSERS_SPEAK)
_NATIVE_DOH: Selection = {"resolver_path": ("native",), "dns_transport": OVER_HTTP}
_OVER_TCP = _but("http_version", "h3")
_NOT_FULL = _but("requested_handshake_mode", "full")
_TO_BE_FOUND = _but("h3_discovery", "forced")
_CHOSEN_METHOD = _but("doh_method", "default")
_BY_GATEWAY: Selection = {"resolver_path": ("gateway",)}
_ON_RESOLVERS: Selection = {"connection_sharing": ("resolver_connection",)}
_DO53: Selection = {"resolver_path": ("native",), "dns_transport": ("doudp",)}
_OF_LOOKUPS: Selection = {
    "name_resolution": ("getaddrinfo",),
    "doh_method": _CHOSEN_METHOD,
    "dns_connection_state": ("warm",),
    "requested_dns_handshake_mode": _NOT_FULL,
}
"""Levels affecting only the browser's own look-up."""


def _list_preset_rules() -> Iterator[ImpossibleLevels]:
    """List the levels that a preset of the browser sets otherwise."""
    for name, preset in read_presets().items():
        own: Selection = {"browser_preset": (name,)}
        browser, version = preset.browser, preset.http_version
        others = tuple(kind for kind in BrowserKind if kind != browser)
        yield ImpossibleLevels(own, f"the preset {name} is {browser.capitalize()}'s", browsers=others)
        yield ImpossibleLevels(
            {"http_version": _but("http_version", version), **own}, f"the preset {name} has pages over {version}"
        )
        if preset.name_resolution is not None:
            levels = {"name_resolution": _but("name_resolution", preset.name_resolution), **own}
            by = f"by {preset.name_resolution}"
            yield ImpossibleLevels({**levels, **_DO53}, f"the preset {name} asks over Do53 {by}")
            yield ImpossibleLevels({**levels, "resolver_path": ("stub",)}, f"the preset {name} asks the stub {by}")
        if preset.doh_method is not None:
            levels = {"doh_method": _but("doh_method", preset.doh_method), **own, **_NATIVE_DOH}
            yield ImpossibleLevels(levels, f"the preset {name} sends DoH by {preset.doh_method.upper()}")
        if preset.h3_discovery is not None:
            levels = {"h3_discovery": _but("h3_discovery", preset.h3_discovery), **own}
            yield ImpossibleLevels(levels, f"the preset {name} has h3_discovery {preset.h3_discovery}")
        if not preset.looks_up:
            for factor, words in _OF_LOOKUPS.items():
                yield ImpossibleLevels({factor: words, **own}, f"with the preset {name} the browser looks nothing up")


IMPOSSIBLE = (
    ImpossibleLevels(
        {"resolver_path": ("native",), "dns_transport": _BEYOND_BROWSERS},
        f"no browser's own resolver speaks {_join_names(_BEYOND_BROWSERS, 'or')}",
    ),
    *(
        ImpossibleLevels(levels, reason, browsers=_SHELL)
        for levels, reason in (
            (_NATIVE_DOH, "the headless shell has no DoH of its own"),
            (_BY_GATEWAY, "the headless shell reaches its resolver by the stub, or natively over Do53"),
            ({"name_resolution": ("built_in",)}, "the headless shell has no resolver of its own"),
            ({"requested_handshake_mode": _NOT_FULL}, "the headless shell's tickets end with the warm-up's context"),
            ({"h3_discovery": _TO_BE_FOUND}, "the headless shell has forgotten Alt-Svc and asks for no HTTPS record"),
            ({"browser_preset": _but("browser_preset", "none")}, "the studies' browsers were no headless shell"),
        )
    ),
    ImpossibleLevels(
        {"http_version": _OVER_TCP, "requested_handshake_mode": ("zero_rtt",)},
        "Chromium sends no page request as early data over TCP",
        browsers=_CHROMIUM,
    ),
    ImpossibleLevels(
        {"http_version": _OVER_TCP, "h3_discovery": _TO_BE_FOUND},
        "a page over h1 or h2 discovers no HTTP/3",
    ),
    ImpossibleLevels(
        {"h3_discovery": ("alt_svc",), "requested_handshake_mode": _NOT_FULL},
        "Chromium's warm-up goes over h2 and leaves no ticket for HTTP/3",
        browsers=_CHROMIUM,
    ),
    ImpossibleLevels(
        {"http_version": ("h1",), **_NATIVE_DOH},
        "a browser's DoH needs HTTP/2, which it has for pages and resolver alike or not at all",
    ),
    ImpossibleLevels(
        {"resolver_path": ("stub",), "doh_method": _CHOSEN_METHOD}, "behind the stub the browser sends no DoH"
    ),
    ImpossibleLevels({"dns_transport": WITHOUT_HTTP, "doh_method": _CHOSEN_METHOD}, "it is no DoH"),
    ImpossibleLevels({"name_resolution": ("getaddrinfo",), **_NATIVE_DOH}, "getaddrinfo asks over Do53 only"),
    ImpossibleLevels(
        {"name_resolution": ("getaddrinfo",), "h3_discovery": ("https_record",)},
        "getaddrinfo gives addresses and no HTTPS records",
    ),
    ImpossibleLevels(
        {"dns_transport": WITHOUT_CONNECTION, "dns_connection_state": ("warm",)},
        f"there is no connection over {_join_names(WITHOUT_CONNECTION, 'or')}",
    ),
    ImpossibleLevels(
        {"dns_connection_state": ("warm",), "requested_dns_handshake_mode": _NOT_FULL},
        "a look-up over an open connection has no handshake",
    ),
    ImpossibleLevels(
        {"dns_transport": WITHOUT_HANDSHAKE, "requested_dns_handshake_mode": _NOT_FULL},
        f"there is no TLS or QUIC handshake over {_join_names(WITHOUT_HANDSHAKE, 'or')}",
    ),
    ImpossibleLevels(
        {"resolver_path": ("native",), "dns_transport": ("doh",), "requested_dns_handshake_mode": ("zero_rtt",)},
        "Chromium sends no DoH query as early data over TCP",
        browsers=_CHROMIUM,
    ),
    ImpossibleLevels(
        {"doh_method": ("post",), "requested_dns_handshake_mode": ("zero_rtt",)},
        "Firefox sends no POST as early data",
        browsers=_FIREFOX,
    ),
    *(
        ImpossibleLevels({**_BY_GATEWAY, factor: words}, reason)
        for factor, words, reason in (
            ("http_version", ("h1",), "the gateway speaks h2 or h3 to the page's servers"),
            ("h3_discovery", _TO_BE_FOUND, "at the gateway HTTP/3 is forced: what it answers for is itself"),
            ("doh_method", _CHOSEN_METHOD, "before the gateway the browser sends no DoH"),
            ("dns_connection_state", ("warm",), "the gateway closes all its connections before a load"),
            ("browser_preset", _but("browser_preset", "none"), "the studies' browsers went through no gateway"),
        )
    ),
    ImpossibleLevels(
        {
            "resolver_path": _but("resolver_path", "gateway"),
            "connection_sharing": _but("connection_sharing", "separate", "origin_frame"),
        },
        "without the gateway the browser alone says which connections are shared, whatever servers tell it",
    ),
    ImpossibleLevels(
        {"connection_sharing": ("origin_frame",), "http_version": _OVER_TCP},
        "servers tell their origins over h3 only",
    ),
    ImpossibleLevels(
        {**_ON_RESOLVERS, "dns_transport": _but("dns_transport", "doh3", "doq")},
        "only connections of DoH3 and DoQ carry pages, too",
    ),
    ImpossibleLevels(
        {
            "connection_sharing": _but("connection_sharing", "resolver_connection"),
            "speculation": _but("speculation", "off"),
        },
        "only on the resolver's connection can the document be asked for with its name",
    ),
    ImpossibleLevels(
        {"resolver_path": _but("resolver_path", "stub"), "query_gathering": _but("query_gathering", "off")},
        "only the stub gathers queries into messages",
    ),
    ImpossibleLevels(
        {"resolver_path": _but("resolver_path", "stub"), "answer_push": _but("answer_push", "off")},
        "only the stub has answers before the browser asks",
    ),
    ImpossibleLevels({**_ON_RESOLVERS, "http_version": _OVER_TCP}, "pages on DoH3's connection are pages over h3"),
    ImpossibleLevels(
        {"dns_transport": _but("dns_transport", "doh3", "doq")},
        "a fetch has its name over QUIC",
        only_kind=TrialKind.FETCH,
    ),
    ImpossibleLevels(
        {"connection_sharing": _but("connection_sharing", "separate", "resolver_connection")},
        "a fetch has the page on its own connection or on the resolver's",
        only_kind=TrialKind.FETCH,
    ),
    ImpossibleLevels(
        {"names_count": ("1",), "question_packing": ("one_message",)},
        "one name makes one question: there is nothing to put into the same message",
    ),
    *_list_preset_rules(),
)


@functools.cache
def _forbid_gap_on_cold_connection(gap: str) -> ImpossibleLevels:
    levels = {"dns_connection_state": ("cold",), "idle_gap_ms": (gap,)}
    return ImpossibleLevels(levels, "a new connection has no pause before its first query")


@functools.cache
def _forbid_two_misses(ratio: str) -> ImpossibleLevels:
    levels = {"resolver_cache": ("miss",), "resolver_miss_ratio": (ratio,)}
    return ImpossibleLevels(levels, "a resolver that lacks every name lacks no share of them beside")


def _forbid_in_study(condition: Condition, reason: str) -> ImpossibleLevels:
    factors = (*list_needed_factors(condition.kind), *condition.named)
    return ImpossibleLevels({one: (format_level(getattr(condition, one), one),) for one in factors}, reason)


def impossible(condition: Condition) -> ImpossibleLevels | None:
    """Find out why a condition cannot be."""
    if condition.resolver_miss_ratio and condition.resolver_cache is ResolverCache.MISS:
        return _forbid_two_misses(format_level(condition.resolver_miss_ratio, "resolver_miss_ratio"))
    if condition.idle_gap_ms and condition.dns_connection_state is ConnectionState.COLD:
        return _forbid_gap_on_cold_connection(format_level(condition.idle_gap_ms, "idle_gap_ms"))
    if condition.study is not None and (reason := find_study(condition.study).impossible(condition)) is not None:
        return _forbid_in_study(condition, reason)
    return next((one for one in IMPOSSIBLE if one.forbids(condition)), None)


def _find_fault(plan: Plan, condition: Condition) -> ImpossibleLevels | None:
    """Find out why a condition of a plan cannot be: in any plan, or with the plan's own software."""
    return impossible(condition) or find_impossible(plan.software, condition)


def check_combinations(source: str, plan: Plan) -> None:
    """Fail for impossible conditions, with every reason at once, and for a plan without any condition left."""
    conditions = plan.conditions()
    if not conditions:
        raise ConfigurationError(f"{source}: exclude: leaves no condition; exclude less")
    firsts: dict[str, tuple[Condition, ImpossibleLevels]] = {}
    for condition in conditions:
        found = _find_fault(plan, condition)
        if found is not None:
            firsts.setdefault(f"{_find_key(condition, found)}: {_way_out(plan, found)}", (condition, found))
    problems = [
        f"{_find_key(condition, found)}: {condition.id}: {found.reason}; {_way_out(plan, found)}"
        for condition, found in firsts.values()
    ]
    if problems:
        raise ConfigurationError(f"{source}: {'; also '.join(problems)}")


def _find_key(condition: Condition, found: ImpossibleLevels) -> str:
    """Return the faulty key: a transport's path, or the factor beyond the factors of every plan."""
    if set(found.levels) == {"resolver_path", "dns_transport"}:
        return f"resolver_path.{condition.dns_transport}"
    optional = [factor for factor in found.factors if factor in NAMED_ORDER and factor != "resolver_path"]
    return f"factors.{(optional or list(found.factors))[-1]}"


def _way_out(plan: Plan, found: ImpossibleLevels) -> str:
    """Return the remedy: an exclusion or another level."""
    if set(found.levels) == {"resolver_path", "dns_transport"}:
        return 'use "stub"'
    keys = [f"{factor} = {value_text(words)}" for factor, words in _narrow(plan, found).items()]
    if keys:
        return f"add [[exclude]] with {', '.join(keys)}"
    *most, last = found.factors
    return f"every condition of the plan is like that: change {', '.join(most)} or {last}"


def _narrow(plan: Plan, found: ImpossibleLevels) -> dict[str, list[str]]:
    """Choose the impossible conditions by the fewest keys and levels for this plan."""
    named = {name for name, build in plan.browser_builds.items() if build.kind in found.browsers}
    levels = {**({"browser": tuple(named)} if found.browsers else {}), **found.levels}
    meant = {factor: [word for word in plan.words(factor) if word in words] for factor, words in levels.items()}
    return {factor: words for factor, words in meant.items() if len(words) < len(plan.words(factor))}


def exclusions_needed(plan: Plan) -> list[tuple[Selection, str]]:
    """List the necessary exclusions of a plan, with the reasons; omit faults without a mending exclusion."""
    found = [rule for one in plan.conditions() if (rule := _find_fault(plan, one)) is not None]
    different = {(rule.reason, *rule.levels.items()): rule for rule in found}
    needed = ((_narrow(plan, rule), rule.reason) for rule in different.values())
    return [(levels, reason) for levels, reason in needed if levels]


def baselines_lack(plan: Plan) -> list[str]:
    """List further factors for a baseline's first levels, so every condition has a baseline."""
    conditions = plan.conditions()
    known = set(conditions)
    lacking = []
    for condition in conditions:
        if plan.find_baseline(condition) in known:
            continue
        for factor in plan.factors.named:
            levels = {**plan.baseline.levels, factor: getattr(conditions[0], factor)}
            if plan.find_with_levels(condition, Baseline(levels)) in known:
                lacking.append(factor)
                break
    return list(dict.fromkeys(lacking))


def check_baselines(source: str, plan: Plan) -> None:
    """Fail when a condition's baseline is no condition of the plan."""
    conditions = plan.conditions()
    known = set(conditions)
    for condition in conditions:
        reference = plan.find_baseline(condition)
        if reference in known:
            continue
        missing = [factor for factor in plan.factors.named if factor not in plan.baseline.levels]
        hint = f"name a level of {', '.join(missing)} in [baseline], too" if missing else "do not exclude it"
        problem = f"{condition.id} would be compared with {reference.id}, which is no condition of this plan"
        raise ConfigurationError(f"{source}: baseline: {problem}; {hint}")


def check_procedures(source: str, plan: Plan) -> None:
    """Fail for a comparison of a headless shell with a full browser: their loads differ in more than the build."""
    conditions = plan.conditions()
    pairs = [(one, plan.find_baseline(one)) for one in conditions]
    pairs += [(one.treatment, one.baseline) for one in plan.comparisons()]
    for expected in plan.expectations:
        pairs += [(one.treatment, one.baseline) for one in expected.list_comparisons(conditions, plan.find_with_levels)]
    for treatment, baseline in pairs:
        if _is_shell(treatment) != _is_shell(baseline):
            problem = f"{treatment.id} would be compared with {baseline.id}, a headless shell with a full browser"
            hint = "their measured loads begin differently (docs/method/page-loads.md); compare builds of one kind"
            raise ConfigurationError(f"{source}: browser: {problem}; {hint}")


def _is_shell(condition: Condition) -> bool:
    return condition.browser_kind is BrowserKind.CHROMIUM_HEADLESS_SHELL


def check_gateway(source: str, plan: Plan) -> None:
    """Fail for a load through the gateway without a comparable load avoiding the gateway.

    The gateway's own cost must be measured.
    """
    conditions = plan.conditions()
    known = set(conditions)
    for one in conditions:
        alone = replace(one, connection_sharing=ConnectionSharing.SEPARATE, speculation=PageSpeculation.OFF)
        beside = (replace(alone, resolver_path=path) for path in ResolverPath if path is not ResolverPath.GATEWAY)
        if one.resolver_path is ResolverPath.GATEWAY and not (alone in known and any(map(known.__contains__, beside))):
            problem = f"{one.id}: nothing says what the gateway itself costs"
            hint = f'{one.dns_transport} = ["native", "gateway"] (or "stub"), with connection_sharing separate'
            raise ConfigurationError(f"{source}: resolver_path: {problem}; have {hint} beside it")


def check_repeats(source: str, plan: Plan) -> None:
    """Fail when a repetition matches no condition."""
    conditions = plan.conditions()
    for number, repeat in enumerate(plan.repeat):
        if not any(selects(repeat.levels, one) for one in conditions):
            raise ConfigurationError(f"{source}: repeat[{number}]: matches no condition of the plan; name other levels")


def check_comparisons(source: str, plan: Plan) -> None:
    """Fail when comparisons share a name, or a comparison has no condition or an unknown condition."""
    conditions = plan.conditions()
    known, names = set(conditions), set[str]()
    for number, rule in enumerate(plan.comparison_rules):
        where = f"{source}: comparison[{number}]"
        if rule.name in names:
            raise ConfigurationError(f"{where}.name: {rule.name!r} is another comparison's name; give each its own")
        names.add(rule.name)
        pairs = rule.pairs((one for one in conditions if one.replicate == 1), plan.find_with_levels)
        if not pairs:
            problem = f"{rule.name!r} compares no condition with another one; name other levels"
            raise ConfigurationError(f"{where}: {problem}")
        missing = next((pair for pair in pairs if pair.baseline not in known), None)
        if missing is not None:
            problem = f"{missing.treatment.id} would be compared with {missing.baseline.id}, which is no condition"
            hint = "name a level of one more factor in baseline, or fewer conditions in treatment"
            raise ConfigurationError(f"{where}: {problem} of this plan; {hint}")
    if plan.stop is not None:
        _check_stop(f"{source}: stop", plan, plan.stop)


def _check_stop_by_expectations(where: str, plan: Plan) -> None:
    if not any(one.kind is not ExpectationKind.FAILURES_AT_MOST for one in plan.expectations):
        problem = "there is no expectation that blocks could decide"
        raise ConfigurationError(f"{where}.rule: {problem}; add [[expect]] about times or shares")


def check_expectations(source: str, plan: Plan) -> None:
    """Fail when expectations share a name, or an expectation compares with an unknown condition."""
    conditions = plan.conditions()
    known, names = set(conditions), set[str]()
    for number, one in enumerate(plan.expectations):
        where = f"{source}: expect[{number}]"
        if one.name in names:
            raise ConfigurationError(f"{where}.name: {one.name!r} is another expectation's name; give each its own")
        names.add(one.name)
        pairs = one.list_comparisons(conditions, plan.find_with_levels)
        missing = next((pair for pair in pairs if pair.baseline not in known), None)
        if missing is not None:
            problem = f"{missing.treatment.id} would be compared with {missing.baseline.id}, which is no condition"
            raise ConfigurationError(f"{where}: {problem} of this plan; name a level of one more factor in baseline")


def _check_stop(where: str, plan: Plan, stop: StopSettings) -> None:
    if stop.rule is StopRule.EXPECTATIONS:
        _check_stop_by_expectations(where, plan)
        return
    if not any(one.kind is not ComparisonKind.AA for one in plan.comparisons()):
        raise ConfigurationError(f"{where}: there is no comparison whose interval could be narrow enough")
    if DecisionCriterion.EQUIVALENCE in stop.decided_by and plan.analysis.equivalence_margin is None:
        raise ConfigurationError(f"{where}.decided_by: 'equivalence' needs an equivalence margin in [analysis]")
    if stop.drops_conditions and plan.analysis.estimand is not Estimand.PAIRED_DIFFERENCE:
        problem = f"decides by paired differences, and analysis.estimand is {plan.analysis.estimand.value!r}"
        raise ConfigurationError(f"{where}.rule: {stop.rule.value!r} {problem}; leave one of them out")
