"""Comparisons, copies, presets and stopping rules as a plan says them."""

import pytest
from test_plan_factors import BASELINE, FACTORS, HEAD, PATHS, exclusion_of, problem_of

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import BrowserPreset, DohMethod, NameResolution, ResolverCache
from resolab.browser.presets import find_presets
from resolab.plan import Corpus, DecisionCriterion, Plan, StopRule, StopSettings, block_order, parse_plan
from resolab.plan.browser_builds import STOCK_BROWSERS
from resolab.plan.factors import list_allowed_words

TOP = HEAD + FACTORS.replace('["full"]', '["full", "zero_rtt"]')
REPEAT = '[[repeat]]\ndns_transport = ["doudp"]\nrequested_handshake_mode = ["full"]\n'
COMPARISON = """
[[comparison]]
name = "DoH + 0-RTT"
treatment = { dns_transport = ["doh"], requested_handshake_mode = ["zero_rtt"] }
baseline = { dns_transport = "doudp", requested_handshake_mode = "full" }
"""


def plan_of(tables: str = "", *, factors: str = "", baseline: str = "", top: str = TOP) -> Plan:
    return parse_plan("\n".join((top, factors, PATHS, BASELINE + baseline, tables)), "p.toml", Corpus.from_project())


def pairs(plan: Plan) -> list[tuple[str, str, str]]:
    return [(one.treatment.id, one.baseline.id, str(one.kind)) for one in plan.comparisons()]


def test_without_named_comparisons_every_condition_meets_its_baseline() -> None:
    assert pairs(plan_of()) == [
        ("example.4g.doh.h3.full", "example.4g.doudp.h3.full", "all"),
        ("example.4g.doh.h3.zero_rtt", "example.4g.doudp.h3.zero_rtt", "all"),
    ]


def test_named_comparisons_are_the_only_ones_beside_copies() -> None:
    plan = plan_of(COMPARISON + REPEAT)
    assert pairs(plan) == [
        ("example.4g.doh.h3.zero_rtt", "example.4g.doudp.h3.full", "planned"),
        ("example.4g.doudp.h3.full.copy2", "example.4g.doudp.h3.full", "aa"),
    ]
    assert plan.comparisons()[0].name == "DoH + 0-RTT"


def test_of_three_copies_each_two_are_compared() -> None:
    first = "example.4g.doudp.h3.full"
    assert [one for one in pairs(plan_of(COMPARISON + REPEAT + "times = 3\n")) if one[2] == "aa"] == [
        (f"{first}.copy2", first, "aa"),
        (f"{first}.copy3", first, "aa"),
        (f"{first}.copy3", f"{first}.copy2", "aa"),
    ]


def test_one_table_compares_on_every_page_and_profile_unless_it_names_some() -> None:
    top = TOP.replace('["4g"]', '["4g", "fiber"]')
    assert len(plan_of(COMPARISON, top=top).comparisons()) == 2
    narrowed = COMPARISON.replace("treatment = {", 'treatment = { profile = ["fiber"],')
    assert [one[0] for one in pairs(plan_of(narrowed, top=top))] == ["example.fiber.doh.h3.zero_rtt"]


def test_copies_run_beside_their_first_and_change_no_other_order() -> None:
    plain, repeated = plan_of(), plan_of(REPEAT + "times = 3\n")
    copies = [one.id for one in repeated.conditions() if one.replicate > 1]
    assert copies == ["example.4g.doudp.h3.full.copy2", "example.4g.doudp.h3.full.copy3"]
    order = [one.id for one in block_order(repeated, 1, 0)]
    assert sorted(order) == sorted([*copies, *(one.id for one in plain.conditions())])
    assert [one for one in order if one not in copies] == [one.id for one in block_order(plain, 1, 0)]
    assert {repeated.find_baseline(one).id for one in repeated.conditions() if one.replicate > 1} == {
        "example.4g.doudp.h3.full"
    }


def test_a_repetition_without_levels_repeats_all_and_of_several_the_highest_holds() -> None:
    plan = plan_of("[[repeat]]\n" + REPEAT + "times = 4\n")
    assert sorted(one.replicate for one in plan.conditions()) == [1, 1, 1, 1, 2, 2, 2, 2, 3, 4]


def test_a_stopping_rule_is_read_with_its_defaults() -> None:
    assert plan_of().stop is None
    assert plan_of("[stop]\nci_width_ms = 10").stop == StopSettings(ci_width_ms=10.0)
    text = "[stop]\nci_width_ratio = 0.05\nmin_blocks = 8\ncheck_every_blocks = 2"
    assert plan_of(text).stop == StopSettings(ci_width_ratio=0.05, min_blocks=8, check_every_blocks=2)


def test_a_rule_by_confidence_sequences_needs_no_width_and_says_what_decides() -> None:
    rule = 'rule = "confidence_sequence"\n'
    stop = plan_of("[stop]\n" + rule).stop
    assert stop == StopSettings(rule=StopRule.CONFIDENCE_SEQUENCE, min_blocks=8)
    assert stop is not None
    assert stop.drops_conditions
    text = "[stop]\n" + rule + 'min_blocks = 12\nci_width_ratio = 0.05\ndecided_by = ["width"]'
    assert plan_of(text).stop == StopSettings(
        rule=StopRule.CONFIDENCE_SEQUENCE, ci_width_ratio=0.05, decided_by=(DecisionCriterion.WIDTH,), min_blocks=12
    )
    old = plan_of("[stop]\nci_width_ms = 10").stop
    assert old is not None
    assert (old.rule, old.drops_conditions, old.min_blocks) == (StopRule.FIXED_WIDTH, False, 12)


def test_the_resolvers_distance_and_cache_are_factors() -> None:
    factors = 'resolver_extra_rtt_ms = [0, 12.5]\nresolver_cache = ["hit", "miss"]'
    plan = plan_of("[resolver]\nmiss_delay_ms = 80\n", factors=factors, baseline="resolver_extra_rtt_ms = 0\n")
    assert plan.resolver.miss_delay_ms == 80.0
    far = next(one for one in plan.conditions() if one.id == "example.4g.doh.h3.full.12.5.miss")
    assert (far.resolver_extra_rtt_ms, far.resolver_cache) == (12.5, ResolverCache.MISS)
    assert plan.find_baseline(far).id == "example.4g.doudp.h3.full.0.miss"
    excluded = plan_of("[[exclude]]\nresolver_extra_rtt_ms = [12.5]\n", factors=factors)
    assert {one.resolver_extra_rtt_ms for one in excluded.conditions()} == {0.0}


def test_the_instrument_keeps_network_logs_on_request() -> None:
    assert not plan_of().instrument.netlog
    assert plan_of("[instrument]\nnetlog = true").instrument.netlog


H2 = TOP.replace('["h3"]', '["h2"]').replace('"full", "zero_rtt"', '"full"')


def test_a_preset_decides_the_factors_the_plan_does_not_name() -> None:
    plan = plan_of(factors='browser = ["firefox"]\nbrowser_preset = ["none", "h20"]', top=H2)
    by_id = {one.id: one for one in plan.conditions()}
    doh, do53 = by_id["example.4g.doh.h2.full.firefox.h20"], by_id["example.4g.doudp.h2.full.firefox.h20"]
    assert (doh.doh_method, doh.name_resolution) == (DohMethod.POST, NameResolution.BUILT_IN)
    assert (do53.doh_method, do53.name_resolution) == (None, NameResolution.GETADDRINFO)
    assert plan.find_baseline(doh) == do53
    plain = by_id["example.4g.doh.h2.full.firefox.none"]
    assert (plain.doh_method, plain.name_resolution) == (None, NameResolution.BUILT_IN)


def test_presets_have_the_words_and_browsers_of_the_browser_room() -> None:
    assert list_allowed_words("browser_preset") == ("none", *sorted(find_presets()))
    for name, preset in find_presets().items():
        for browser in STOCK_BROWSERS:
            top = TOP if name == "s24" else H2
            factors = f'browser = ["{browser}"]\nbrowser_preset = ["{name}"]'
            if preset.browser == browser:
                assert {one.browser_preset for one in plan_of(factors=factors, top=top).conditions()} == {
                    BrowserPreset(name)
                }
            else:
                with pytest.raises(ConfigurationError, match=f"the preset {name} is"):
                    plan_of(factors=factors, top=top)


IMPOSSIBLE = [
    ("h20", "firefox", "", TOP.replace('["h3"]', '["h2", "h3"]'), "pages over h2"),
    ("h20", "firefox", 'name_resolution = ["built_in", "getaddrinfo"]', H2, "by getaddrinfo"),
    ("h20", "firefox", 'doh_method = ["default", "get", "post"]', H2, "DoH by POST"),
    ("s24", "chromium", "", TOP.replace('["h3"]', '["h2", "h3"]'), "pages over h3"),
    ("s24", "chromium", 'h3_discovery = ["forced", "alt_svc"]', TOP, "has h3_discovery forced"),
    ("s24", "chromium", 'dns_connection_state = ["cold", "warm"]', TOP, "looks nothing up"),
    ("s24", "chromium", 'name_resolution = ["built_in", "getaddrinfo"]', TOP, "looks nothing up"),
]  # fmt: skip


@pytest.mark.parametrize(("preset", "browser", "factors", "top", "reason"), IMPOSSIBLE)
def test_what_a_preset_fixes_cannot_be_asked_otherwise(
    preset: str, browser: str, factors: str, top: str, reason: str
) -> None:
    corpus = Corpus.from_project()
    optional = f'browser = ["{browser}"]\nbrowser_preset = ["none", "{preset}"]\n{factors}'
    written, found = top + optional + PATHS + BASELINE, ""
    # What comes before it, such as a method of what is no DoH, is excluded as the hints say.
    while reason not in found:
        written += exclusion_of(found) if found else ""
        found = problem_of(written, corpus)
        assert found
    assert reason not in problem_of(written + exclusion_of(found), corpus)


WRONG = [
    ("[stop]\n", "stop: needs exactly one of ci_width_ms and ci_width_ratio"),
    ("[stop]\nci_width_ms = 1\nci_width_ratio = 1", "stop: needs exactly one"),
    ("[stop]\nci_width_ms = 0", "stop.ci_width_ms: must be a number above 0"),
    ("[stop]\nci_width_ms = 1\nmin_blocks = 1", "stop.min_blocks: must be a whole number from 2"),
    ("[stop]\nci_width = 1", "stop.ci_width: unknown key"),
    ('[stop]\nrule = "sometimes"', "stop.rule: .*fixed_width, confidence_sequence"),
    ('[stop]\nci_width_ms = 1\ndecided_by = ["width"]', "stop.decided_by: is for rule = 'confidence_sequence'"),
    ('[stop]\nrule = "confidence_sequence"\nci_width_ms = 1\nci_width_ratio = 1', "stop: takes one of"),
    ('[stop]\nrule = "confidence_sequence"\ndecided_by = ["width"]', "stop.decided_by: 'width' needs one of"),
    ('[stop]\nrule = "confidence_sequence"\nci_width_ms = 1\ndecided_by = ["difference"]', "decided_by: lacks 'width'"),
    ('[stop]\nrule = "confidence_sequence"\ndecided_by = ["equivalence"]', "stop.decided_by: 'equivalence' needs"),
    ('[analysis]\nestimand = "shift"\n[stop]\nrule = "confidence_sequence"', "stop.rule: .* analysis.estimand is 'shift'"),
    ('[stop]\nrule = "confidence_sequence"\ndecided_by = ["luck"]', "stop.decided_by: unknown level"),
    ("[resolver]\nmiss_delay_ms = -1", "resolver.miss_delay_ms: must be a number above 0"),
    ('[[repeat]]\npage = ["wikipedia"]\n', r"repeat\[0\]: matches no condition"),
    ("[[repeat]]\ntimes = 21\n", r"repeat\[0\].times: must be a whole number from 2 to 20"),
    (COMPARISON + COMPARISON, r"comparison\[1\].name: 'DoH \+ 0-RTT' is another comparison's name"),
    (COMPARISON.replace('"zero_rtt"', '"resumed"'), r"comparison\[0\].treatment.requested_handshake_mode: unknown level"),
    (COMPARISON.replace('["zero_rtt"]', '"zero_rtt"'), "treatment.requested_handshake_mode: must be a list"),
    (COMPARISON.replace("treatment = {", "treatment = { pgae = 1, "), r"comparison\[0\].treatment.pgae: unknown key"),
    (COMPARISON.replace("baseline = {", 'baseline = { page = "example", '), r"comparison\[0\].baseline.page: no baseline"),
    (COMPARISON.replace('["doh"]', '["doudp"]').replace('["zero_rtt"]', '["full"]'), "compares no condition with another"),
    (
        COMPARISON + '[[exclude]]\ndns_transport = ["doudp"]\nrequested_handshake_mode = ["full"]\n'
        '[[exclude]]\ndns_transport = ["doh"]\nrequested_handshake_mode = ["full"]\n',
        r"comparison\[0\]: example.4g.doh.h3.zero_rtt would be compared with example.4g.doudp.h3.full, which is no",
    ),
    ('[stop]\nci_width_ms = 1\n[[exclude]]\ndns_transport = ["doh"]\n', "stop: there is no comparison"),
]  # fmt: skip


@pytest.mark.parametrize(("tables", "message"), WRONG)
def test_every_mistake_in_them_is_one_line(tables: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=message) as caught:
        plan_of(tables)
    assert str(caught.value).startswith("p.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("levels", "message"),
    [
        ("[-1]", "must hold numbers from 0 to 10000, not -1"),
        ('["20"]', "must hold numbers"),
        ("[20, 20.0]", "names a level twice"),
        ("[nan]", "must hold numbers"),
    ],
)
def test_levels_that_are_numbers_are_checked(levels: str, message: str) -> None:
    with pytest.raises(ConfigurationError, match=f"factors.resolver_extra_rtt_ms: {message}"):
        plan_of(factors=f"resolver_extra_rtt_ms = {levels}")
