"""Reading a plan: TOML in, a checked `Plan` out, or one line with file, key and the allowed values.

For: every check possible before a run. Not for: the machine's ability to run the plan.
"""

import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, HttpVersion, ResolverPath, TrialKind
from resolab.plan.analysis import read_analysis
from resolab.plan.browser_builds import read_browser_builds
from resolab.plan.choices import read_baseline, read_comparison, read_exclusion, read_repeat
from resolab.plan.condition import DECLARED, Baseline, Factors, list_needed_factors
from resolab.plan.corpus import Corpus
from resolab.plan.expectation_table import read_expectation
from resolab.plan.factors import (
    EVERY_FACTOR,
    FREE_NAMES,
    NUMBERS,
    OPTIONAL_FACTORS,
    OwnNames,
    list_allowed_words,
    parse_level,
)
from resolab.plan.key_exchange import read_key_exchange
from resolab.plan.kind import KIND_RULES, list_factors_of_kind, list_outcome_names
from resolab.plan.live.network import live_table
from resolab.plan.live.settings import LiveSettings
from resolab.plan.model import HIGHEST_SEED, Plan
from resolab.plan.pages.certificate_check import check_shared_names
from resolab.plan.pages.command_line_check import check_told_names, tells_names
from resolab.plan.pages.own_pages import GeneratedPage, PlanPageSource, is_model, is_path, read_page_name
from resolab.plan.pages.page_levels import page_levels, read_pages, replace_pages
from resolab.plan.section import NAME, PlanSection
from resolab.plan.settings import (
    HIGHEST_BLOCKS,
    Design,
    EdgeSettings,
    Instrument,
    Limits,
    PageSettings,
    QuerySettings,
    ResolverSettings,
    Unit,
    read_stop,
    read_table,
    read_value,
)
from resolab.plan.software import EDGE, Software
from resolab.plan.software.table import read_software
from resolab.plan.study import PlannedStudy, check_study_factors, find_study_levels, read_study
from resolab.plan.support import (
    check_baselines,
    check_combinations,
    check_comparisons,
    check_expectations,
    check_gateway,
    check_procedures,
    check_repeats,
)
from resolab.plan.unit import check_unit, pool_pages


def load_plan(path: Path, corpus: Corpus | None = None, *, seed: int | None = None, blocks: int | None = None) -> Plan:
    """Read and check a plan file; `seed` and `blocks` replace the plan's."""
    corpus = corpus or Corpus.from_project()
    path = corpus.plan_file(path)
    plan = parse_plan(_text(path, corpus), str(path), corpus, base=path.absolute().parent)
    if seed is not None and not 0 <= seed <= HIGHEST_SEED:
        raise ConfigurationError(f"{path}: seed: must be from 0 to {HIGHEST_SEED}, not {seed}")
    if blocks is not None and not 1 <= blocks <= HIGHEST_BLOCKS:
        raise ConfigurationError(f"{path}: blocks: must be from 1 to {HIGHEST_BLOCKS}, not {blocks}")
    plan = replace(
        plan,
        seed=plan.seed if seed is None else seed,
        blocks=plan.blocks if blocks is None else blocks,
    )
    check_unit(str(path), plan)
    return plan


def _text(path: Path, corpus: Corpus) -> str:
    try:
        return path.read_text("utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        known = ", ".join(corpus.plans()) or "none"
        remedy = f"give the path of a plan's TOML file, or the name of one that comes along: {known}"
        raise ConfigurationError(f"failed to read plan {path}: {reason}; {remedy}") from error


def _name(top: PlanSection, corpus: Corpus | None) -> str:
    """Take the plan's name, part of its runs' folders: the name may contain no path."""
    name = top.text("name")
    if corpus is not None and ("/" in name or name.startswith(".") or not name.isprintable()):
        top.fail("name", f"becomes part of a folder's name: no slash, no dot at its start, not {name!r}")
    return name


def parse_plan(
    text: str,
    source: str,
    corpus: Corpus | None,
    *,
    base: Path | None = None,
    begun_with: Sequence[str] | None = None,
) -> Plan:
    """Check a plan's text; without a corpus pages and profiles are not looked up, as when reading an old dataset.

    Pages given as paths are relative to `base`, or to the working folder. For a dataset's plan, `begun_with` are the
    pages matched by its patterns.
    """
    base = base or Path.cwd()
    read = live_table(source, _table(text, source), base, begun_with, at_hand=corpus is not None)
    top, own, pages = _read_pages(source, read.table, base, corpus, begun_with)
    if corpus is not None:
        corpus = replace(corpus, own_pages=own)
    plan = _build_plan(top, corpus, live=read.settings, pages=pages, own_pages=own, source_text=text, base=base)
    top.finish()
    check_unit(source, plan)
    if corpus is not None:
        _check_whole(source, plan, corpus)
    return plan


def _read_pages(
    source: str, table: Mapping[str, Any], base: Path, corpus: Corpus | None, begun_with: Sequence[str] | None
) -> tuple[PlanSection, Mapping[str, PlanPageSource], PageSettings]:
    """Return the plan's table with the levels of `page` expanded, the plan's own pages, and the settings of pages."""
    generated, pages = read_pages(PlanSection(source, table).section("pages", required=False))
    levels = page_levels(source, _page_level(table), generated, base, corpus, begun_with)
    top, own = PlanSection(source, replace_pages(table, levels)), levels.own if levels else generated
    top.section("pages", required=False)
    if corpus is not None:
        _check_own_pages(top, own, corpus)
    return top, own, pages


def _build_plan(top: PlanSection, corpus: Corpus | None, *, live: LiveSettings | None, **given: Any) -> Plan:
    # Sites and the machine's own network stand in no corpus.
    named_in = None if live is not None else corpus
    kind = read_value(top, Plan, "kind")
    _refuse_tables(top, kind, live=live is not None)
    study = read_study(top.section("study")) if kind is TrialKind.STUDY else None
    builds = read_browser_builds(top, given["base"])
    own_names = {"browser": tuple(builds)}
    factors = _factors(top.section("factors"), named_in, kind, own_names, study)
    if live is None:
        _refuse_the_lives(top, factors)
    paths, factors = _read_resolver_paths(top, factors, kind)
    design = read_table(top.section("design", required=False), Design)
    plan = Plan(
        name=_name(top, corpus),
        question=top.text("question"),
        kind=kind,
        study=study,
        seed=read_value(top, Plan, "seed"),
        blocks=len(factors.page)
        if "blocks" not in top and design.unit is Unit.PAGE
        else read_value(top, Plan, "blocks"),
        factors=factors,
        resolver_path=paths,
        baseline=Baseline({}),
        exclude=tuple(read_exclusion(one, named_in, kind, own_names) for one in top.tables("exclude")),
        repeat=tuple(read_repeat(one, named_in, kind, own_names) for one in top.tables("repeat")),
        design=design,
        live=live,
        browser_builds=builds,
        software=_read_software(top, factors, given["base"], at_hand=corpus is not None),
        **given,
        **_settings(top, list_outcome_names(kind, study)),
    )
    plan = replace(plan, baseline=read_baseline(top.section("baseline"), plan))
    plan = replace(plan, comparison_rules=tuple(read_comparison(one, plan) for one in top.tables("comparison")))
    outcomes = list_outcome_names(kind, study)
    return replace(plan, expectations=tuple(read_expectation(one, plan, outcomes) for one in top.tables("expect")))


def _read_software(top: PlanSection, factors: Factors, base: Path, *, at_hand: bool) -> Mapping[str, Software]:
    """Read the tables of the software among the levels."""
    names = [name for name in factors.levels["resolver_software"] if name != EDGE]
    return read_software(top.section("software", required=False), names, base, at_hand=at_hand)


def _table(text: str, source: str) -> Mapping[str, Any]:
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:  # A number of thousands of digits, tables within tables.
        raise ConfigurationError(f"{source}: not valid TOML: {error}") from error


def _refuse_tables(top: PlanSection, kind: TrialKind, *, live: bool) -> None:
    refused = KIND_RULES[kind].refused_tables
    if live and "network" in refused:
        top.fail("kind", f"{str(kind)!r} is for the lab; leave out [network]")
    for table in refused:
        if table in top:
            top.fail(table, f"has no meaning with kind = {str(kind)!r}; remove it")


def _settings(top: PlanSection, outcomes: Sequence[str]) -> dict[str, Any]:
    """Read the tables independent of all others, by the plan's field."""
    tables = {
        "limits": Limits,
        "instrument": Instrument,
        "resolver": ResolverSettings,
        "edge": EdgeSettings,
        "queries": QuerySettings,
    }
    return {
        **{key: read_table(top.section(key, required=False), table) for key, table in tables.items()},
        "stop": read_stop(top.section("stop", required=False)) if "stop" in top else None,
        "key_exchange": read_key_exchange(top.section("key_exchange", required=False)),
        "analysis": read_analysis(top.section("analysis", required=False), outcomes),
    }


def _check_whole(source: str, plan: Plan, corpus: Corpus) -> None:
    """Check rules across the whole plan; pages alike in a rule represent each other."""
    compared = pool_pages(plan)
    check_combinations(source, compared)
    check_baselines(source, compared)
    check_procedures(source, compared)
    check_gateway(source, compared)
    check_repeats(source, compared)
    check_comparisons(source, compared)
    check_expectations(source, compared)
    if plan.live is not None:
        return
    _check_names_count(source, compared, corpus)
    check_shared_names(source, plan, corpus, compared.conditions())
    check_told_names(source, compared, _hosts(source, plan, corpus, drawn=tells_names(compared)))


def _check_names_count(source: str, plan: Plan, corpus: Corpus) -> None:
    """Refuse an exchange of more names than a page has."""
    asked = max(one.names_count for one in plan.conditions())
    if asked == 1:
        return
    for page in plan.factors.page:
        count = len(corpus.hosts_of_model(page) if corpus.is_model(page) else corpus.read_pages([page])[0].hosts)
        if count < asked:
            problem = f"{asked} names are more than the {count} of page {page}"
            remedy = "take a page of more names, or draw one: [pages] generated (docs/formats/plan.md)"
            raise ConfigurationError(f"{source}: factors.names_count: {problem}; {remedy}")


def _hosts(source: str, plan: Plan, corpus: Corpus, *, drawn: bool) -> list[str]:
    """Read pages and name their hosts, without making clones; drawn pages are read only with `drawn`."""
    models = [page for page in plan.factors.page if corpus.is_model(page)]
    pages = corpus.read_pages([page for page in plan.factors.page if page not in set(models)])
    read = [page for page in models if drawn or not isinstance(plan.own_pages.get(page), GeneratedPage)]
    hosts = [host for page in pages for host in page.hosts]
    hosts += [host for page in read for host in corpus.hosts_of_model(page)]
    twice = next((host for host, count in Counter(hosts).items() if count > 1), None)
    if twice is not None:
        problem = f"host name {twice} stands in more than one page; give every page names of its own"
        raise ConfigurationError(f"{source}: factors.page: {problem}")
    return hosts


def _page_level(table: Mapping[str, Any]) -> object:
    """Take the levels of `page` before any check; faults are reported later."""
    factors = table.get("factors")
    return factors.get("page") if isinstance(factors, dict) else None


def _check_own_pages(top: PlanSection, own: Mapping[str, PlanPageSource], corpus: Corpus) -> None:
    known = set(corpus.pages())
    for name, folder in own.items():
        if name in known:
            place = f"generated page {name}" if isinstance(folder, GeneratedPage) else folder
            top.fail("factors.page", f"{place} has the name of a page that comes along; rename the folder")
        if isinstance(folder, GeneratedPage):
            continue
        if is_model(folder):
            if not folder.is_file():
                top.fail("factors.page", f"{folder} does not exist; `resolab page import` writes page models")
        elif not (folder / "page.toml").is_file():
            top.fail("factors.page", f"{folder} has no page.toml; `resolab page new {folder}` writes one")


def _factors(
    section: PlanSection,
    corpus: Corpus | None,
    kind: TrialKind,
    own_names: OwnNames,
    study: PlannedStudy | None = None,
) -> Factors:
    fixed = KIND_RULES[kind].fixed_levels
    declared: OwnNames = {**own_names, **find_study_levels(study)}
    if study is not None:
        check_study_factors(section, study)
    levels: dict[str, tuple[Any, ...]] = {
        **{factor: (level,) for factor, level in (*OPTIONAL_FACTORS.items(), *fixed.items())},
        "profile": _names(section, "profile", corpus.profiles() if corpus else None),
    }
    if "page" in section or "page" not in fixed:
        levels["page"] = _page_names(section, corpus)
    named = {"page"} & fixed.keys() if "page" in section else set[str]()
    for factor in EVERY_FACTOR:
        if factor in section and not DECLARED[factor].belongs_to(kind) and not DECLARED[factor].about.of_transport:
            factors = ", ".join(list_factors_of_kind(kind))
            section.fail(factor, f"is no factor with kind = {str(kind)!r}; its factors: {factors}")
    for factor in list_needed_factors(kind):
        if factor not in ("page", "profile"):
            words = section.levels(factor, list_allowed_words(factor))
            levels[factor] = tuple(parse_level(factor, word) for word in words)
    for factor in OPTIONAL_FACTORS:
        bounds = NUMBERS.get(factor)
        known = None if bounds or factor in FREE_NAMES else list_allowed_words(factor)
        given = section.optional_levels(factor, declared.get(factor, known), bounds)
        if given is not None:
            levels[factor] = tuple(parse_level(factor, word) for word in given)
            named.add(factor)
    section.finish()
    return Factors(levels, named=tuple(factor for factor in DECLARED if factor in named))


def _refuse_the_lives(top: PlanSection, factors: Factors) -> None:
    live = 'is for plans of the real network ([network] kind = "live")'
    if "resolver" in factors.named:
        top.fail("factors.resolver", live)
    if HttpVersion.ANY in factors.levels["http_version"]:
        top.fail("factors.http_version", f"{str(HttpVersion.ANY)!r} {live}; name versions here")


def _page_names(section: PlanSection, corpus: Corpus | None) -> tuple[str, ...]:
    own = [word for word in section.levels("page", None) if is_path(word)]
    known = None if corpus is None else [*corpus.pages(), *own]
    names = tuple(read_page_name(word) for word in section.levels("page", known))
    if len(set(names)) < len(names):
        section.fail("page", "two folders or page models have one name; rename one of them")
    _check_names(section, "page", names)
    return names


def _names(section: PlanSection, key: str, known: tuple[str, ...] | None) -> tuple[str, ...]:
    names = section.levels(key, known)
    _check_names(section, key, names)
    return names


def _check_names(section: PlanSection, key: str, names: tuple[str, ...]) -> None:
    for name in names:
        if not NAME.fullmatch(name):
            section.fail(key, f"{name!r} is no name; use letters, digits, - and _")


def _read_resolver_paths(
    top: PlanSection, factors: Factors, kind: TrialKind
) -> tuple[Mapping[DnsTransport, tuple[ResolverPath, ...]], Factors]:
    """Read the path to each transport; a kind of trial without a browser has a single path."""
    fixed = KIND_RULES[kind].resolver_path
    if fixed is not None:
        return dict.fromkeys(factors.dns_transport, (fixed,)), factors
    return _resolver_paths(top.section("resolver_path"), factors)


def _resolver_paths(
    section: PlanSection, factors: Factors
) -> tuple[Mapping[DnsTransport, tuple[ResolverPath, ...]], Factors]:
    """Read the path to each transport; a list for any transport makes `resolver_path` a named factor."""
    allowed = list_allowed_words("resolver_path")
    # A transport that is not among the levels may stand here, so that a plan can be narrowed by one line.
    given = {transport: _paths(section, transport, allowed) for transport in DnsTransport}
    for transport in factors.dns_transport:
        if not given[transport]:
            section.fail(transport, f"is missing: say how the browser reaches it; allowed: {', '.join(allowed)}")
    is_factor = any(section.is_list(transport) for transport in factors.dns_transport)
    section.finish()
    named = {*factors.named, *(["resolver_path"] if is_factor else [])}
    return (
        {transport: given[transport] for transport in factors.dns_transport},
        replace(factors, named=tuple(factor for factor in DECLARED if factor in named)),
    )


def _paths(section: PlanSection, transport: str, allowed: tuple[str, ...]) -> tuple[ResolverPath, ...]:
    if section.is_list(transport):
        return tuple(ResolverPath(word) for word in section.levels(transport, allowed))
    word = section.take_optional_word(transport, allowed)
    return () if word is None else (ResolverPath(word),)
