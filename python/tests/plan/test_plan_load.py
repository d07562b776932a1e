from pathlib import Path

import pytest

from resolab.basics.errors import ConfigurationError
from resolab.basics.records import DnsTransport, HandshakeMode, ResolverPath
from resolab.plan import Baseline, Corpus, load_plan, parse_plan

ROOT = Path(__file__).parents[3]
TEXT = """
name = "n"
question = "q?"
seed = 1
blocks = 2
[factors]
page = ["example", "other"]
profile = ["4g"]
dns_transport = ["doudp", "doq"]
http_version = ["h3"]
requested_handshake_mode = ["full", "zero_rtt"]
[resolver_path]
doudp = "native"
doq = "stub"
[baseline]
dns_transport = "doudp"
requested_handshake_mode = "full"
[limits]
page_timeout_s = 30
[instrument]
keep_awake = false
"""
PROFILE = 'name = "4g"\nsource = "s"\n[up]\none_way_delay_ms = 46\n[down]\none_way_delay_ms = 45.5\nrate_bps = 5e7\n'


@pytest.fixture
def corpus(tmp_path: Path) -> Corpus:
    for page in ("example", "other"):
        (tmp_path / "pages" / page / "site").mkdir(parents=True)
        (tmp_path / "pages" / page / "site" / "index.html").touch()
        text = f'host = "{page}.resolab.test"\nfolder = "site"\npath = "/"\nrequest_count = 1\n'
        (tmp_path / "pages" / page / "page.toml").write_text(text)
    (tmp_path / "pages" / "no-page").mkdir()
    (tmp_path / "profiles").mkdir()
    (tmp_path / "profiles" / "4g.toml").write_text(PROFILE)
    return Corpus(tmp_path)


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "plan.toml"
    path.write_text(text)
    return path


def test_a_good_plan_is_read_whole(corpus: Corpus, tmp_path: Path) -> None:
    plan = load_plan(write(tmp_path, TEXT), corpus)
    assert plan.factors.page == ("example", "other")
    assert plan.resolver_path == {
        DnsTransport.DOUDP: (ResolverPath.NATIVE,),
        DnsTransport.DOQ: (ResolverPath.STUB,),
    }
    assert plan.baseline == Baseline(
        {"dns_transport": DnsTransport.DOUDP, "requested_handshake_mode": HandshakeMode.FULL}
    )
    assert (plan.limits.page_timeout_s, plan.limits.lateness_p99_ms) == (30.0, 0.5)
    assert not plan.instrument.keep_awake
    assert plan.source_text == TEXT


def test_pictures_of_failed_loads_are_kept_on_request_only(corpus: Corpus) -> None:
    assert not parse_plan(TEXT, "p", corpus).instrument.failure_screenshots
    text = TEXT.replace("keep_awake = false", "failure_screenshots = true")
    assert parse_plan(text, "p", corpus).instrument.failure_screenshots


def test_one_path_unless_the_plan_says_more(corpus: Corpus) -> None:
    assert parse_plan(TEXT, "p", corpus).instrument.paths == 1
    assert parse_plan(TEXT + "paths = 16\n", "p", corpus).instrument.paths == 16


def test_conditions_are_every_combination_with_stable_names(corpus: Corpus) -> None:
    plan = parse_plan(TEXT, "p", corpus)
    names = [condition.id for condition in plan.conditions()]
    assert len(names) == len(set(names)) == 8
    assert "example.4g.doq.h3.zero_rtt" in names
    assert all((one.resolver_path,) == plan.resolver_path[one.dns_transport] for one in plan.conditions())


def test_baseline_keeps_page_profile_and_unnamed_factors(corpus: Corpus) -> None:
    plan = parse_plan(TEXT.replace('dns_transport = "doudp"\n', ""), "p", corpus)
    condition = next(one for one in plan.conditions() if one.id == "other.4g.doq.h3.zero_rtt")
    assert plan.find_baseline(condition).id == "other.4g.doq.h3.full"
    assert plan.find_baseline(plan.find_baseline(condition)) == plan.find_baseline(condition)


def test_overrides_replace_seed_and_blocks_and_are_checked(corpus: Corpus, tmp_path: Path) -> None:
    path = write(tmp_path, TEXT)
    plan = load_plan(path, corpus, seed=0, blocks=9)
    assert (plan.seed, plan.blocks) == (0, 9)
    with pytest.raises(ConfigurationError, match="blocks"):
        load_plan(path, corpus, blocks=0)
    with pytest.raises(ConfigurationError, match="seed"):
        load_plan(path, corpus, seed=-1)


WRONG = [
    ("name =", "nam =", "name: is missing"),
    ("seed = 1", "seed = 1\ncolour = 2", "colour: unknown key; allowed: .*question"),
    ("seed = 1", "seed = true", "seed: must be a whole number"),
    ("blocks = 2", "blocks = 0", "blocks: must be a whole number from 1"),
    ("blocks = 2", 'blocks = "2"', "blocks: must be a whole number"),
    ('"other"]', '"othre"]', "factors.page: unknown level 'othre'; allowed: example, other"),
    ('"other"]', '"no-page"]', "factors.page: unknown level 'no-page'"),
    ('"other"]', '"example"]', "factors.page: names a level twice"),
    ('"other"]', "3]", "factors.page: unknown level 3"),
    ('["4g"]', '["5g"]', "factors.profile: unknown level '5g'; allowed: 4g"),
    ('["4g"]', "[]", "factors.profile: has no level"),
    ('["4g"]', '"4g"', "factors.profile: must be a list"),
    ('"doq"]', '"dox"]', "factors.dns_transport: unknown level 'dox'; allowed: doudp, dotcp, dot, doh, doh3, doq"),
    ('"zero_rtt"]', '"0rtt"]', "factors.requested_handshake_mode: unknown level"),
    ('doq = "stub"', "", "resolver_path.doq: is missing.*native, stub"),
    ('doq = "stub"', 'doq = "tunnel"', "resolver_path.doq: unknown level 'tunnel'"),
    ('doq = "stub"', 'doq = "native"', "resolver_path.doq: .*no browser.s own resolver speaks"),
    ('doq = "stub"', 'doq = "stub"\ndoqq = "stub"', "resolver_path.doqq: unknown key; allowed: doudp, dotcp"),
    ('dns_transport = "doudp"', 'dns_transport = "doh"', "baseline.dns_transport: unknown level 'doh'; allowed: doudp, doq"),
    ('dns_transport = "doudp"', 'page = "example"', "baseline.page: no baseline"),
    ('dns_transport = "doudp"\nrequested_handshake_mode = "full"\n', "", "baseline: names no level"),
    ("page_timeout_s = 30", "page_timeout_s = 0", "limits.page_timeout_s: must be a number above 0"),
    ("page_timeout_s = 30", "page_timeout_s = nan", "limits.page_timeout_s"),
    ("page_timeout_s = 30", "lateness_p99 = 1", "limits.lateness_p99: unknown key"),
    ("keep_awake = false", "keep_awake = 1", "instrument.keep_awake: must be true or false"),
    ("keep_awake = false", "paths = 0", "instrument.paths: must be a whole number from 1 to 16, not 0"),
    ("keep_awake = false", "paths = 17", "instrument.paths: must be a whole number from 1 to 16, not 17"),
    ("[limits]", "[limit]", "limit: unknown key"),
    ("seed = 1", "seed =", "not valid TOML"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "message"), WRONG)
def test_every_mistake_is_one_line_with_file_key_and_what_is_allowed(
    corpus: Corpus, old: str, new: str, message: str
) -> None:
    assert old in TEXT
    with pytest.raises(ConfigurationError, match=message) as caught:
        parse_plan(TEXT.replace(old, new, 1), "plans/p.toml", corpus)
    text = str(caught.value)
    assert text.startswith("plans/p.toml: ")
    assert "\n" not in text
    assert caught.value.exit_code == 3


def test_a_path_for_a_transport_that_is_no_level_may_stand(corpus: Corpus) -> None:
    assert parse_plan(TEXT.replace(', "doq"]', "]"), "p", corpus).factors.dns_transport == (DnsTransport.DOUDP,)


def test_without_a_corpus_names_are_taken_as_they_are() -> None:
    assert parse_plan(TEXT.replace('"other"', '"gone"'), "p", None).factors.page == ("example", "gone")
    with pytest.raises(ConfigurationError, match="is no name"):
        parse_plan(TEXT.replace('"other"', '"a.b"'), "p", None)


def test_unreadable_files_are_configuration_errors(corpus: Corpus, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="No such file"):
        load_plan(tmp_path / "none.toml", corpus)
    (tmp_path / "latin.toml").write_bytes(b'name = "\xe9"')
    with pytest.raises(ConfigurationError, match="not UTF-8"):
        load_plan(tmp_path / "latin.toml", corpus)


def test_corpus_reads_profiles_by_name(corpus: Corpus) -> None:
    link = corpus.profile("4g")
    assert (link.up.one_way_delay_ms, link.down.rate_bps) == (46.0, 5e7)
    assert corpus.page_folder("example").name == "example"
    with pytest.raises(ConfigurationError, match="unknown profile '5g'; known: 4g"):
        corpus.profile("5g")
    with pytest.raises(ConfigurationError, match="unknown page"):
        corpus.page_folder("no-page")
    corpus.profile_file("4g").write_text(PROFILE.replace('"4g"', '"5g"'))
    with pytest.raises(ConfigurationError, match="must be the file's name"):
        corpus.profile("4g")
    corpus.profile_file("4g").write_text("delay = 3")
    with pytest.raises(ConfigurationError, match="failed to read profile"):
        corpus.profile("4g")


def test_the_projects_own_plans_and_profiles_are_good(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    plans = sorted((ROOT / "plans").glob("*.toml"))
    assert plans
    for path in plans:
        assert load_plan(path).source_text == path.read_text()
    corpus = Corpus.from_project()
    assert corpus.root == ROOT
    assert [corpus.profile(name).name for name in corpus.profiles()] == list(corpus.profiles())


@pytest.mark.parametrize("name", ["a b/../c", "/tmp/x", ".hidden", "..", "a\\u0007b"])
def test_no_path_hides_in_a_plans_name(corpus: Corpus, name: str) -> None:
    with pytest.raises(ConfigurationError, match="plan: name: becomes part of a folder's name"):
        parse_plan(TEXT.replace('name = "n"', f'name = "{name}"'), "plan", corpus)
    # A dataset that has one is still read.
    parse_plan(TEXT.replace('name = "n"', f'name = "{name}"'), "plan", None)


def test_everything_that_cannot_be_is_told_at_once(corpus: Corpus) -> None:
    text = TEXT.replace('http_version = ["h3"]', 'http_version = ["h2", "h3"]\nh3_discovery = ["forced", "alt_svc"]')
    with pytest.raises(ConfigurationError) as failed:
        parse_plan(text.replace('doq = "stub"', 'doq = "native"'), "plan", corpus)
    for reason in ("no browser's own resolver speaks", "early data over TCP", "discovers no HTTP/3", "no ticket"):
        assert reason in str(failed.value)
    assert str(failed.value).count("[[exclude]]") == 3
    assert "\n" not in str(failed.value)


def test_what_is_wrong_with_a_plans_pages_is_said_before_it_runs(corpus: Corpus, tmp_path: Path) -> None:
    (tmp_path / "pages" / "other" / "page.toml").write_text('host = "other.resolab.test"\n')
    with pytest.raises(ConfigurationError, match=r"page.*other.*page\.toml: folder: is missing"):
        load_plan(write(tmp_path, TEXT), corpus)


def test_files_may_begin_with_a_byte_order_mark(corpus: Corpus, tmp_path: Path) -> None:
    """Editors of Windows write one; TOML 1.0 takes UTF-8 and says nothing of it."""
    mark = "\ufeff"
    for file in (*tmp_path.glob("pages/*/page.toml"), *tmp_path.glob("profiles/*.toml")):
        file.write_text(mark + file.read_text())
    plan = load_plan(write(tmp_path, mark + TEXT), corpus)
    assert plan.name == "n"
    assert not plan.source_text.startswith(mark)


@pytest.mark.parametrize("value", ["9" * 5_000, "[" * 50_000], ids=["digits", "nesting"])
def test_what_the_reader_of_toml_gives_up_is_one_line(corpus: Corpus, tmp_path: Path, value: str) -> None:
    with pytest.raises(ConfigurationError, match="not valid TOML"):
        load_plan(write(tmp_path, f"blocks = {value}"), corpus)
