"""The operator's URL: required, of somebody, fit for a header."""

import pytest

import resolab
from resolab.basics.errors import ConfigurationError
from resolab.plan.manners import check_operator, user_agent_suffix


def test_the_suffix_names_program_and_operator() -> None:
    assert user_agent_suffix("https://lab.uni.test/dns") == f"resolab/{resolab.__version__} (+https://lab.uni.test/dns)"


@pytest.mark.parametrize(
    "url",
    [
        "",
        "lab.uni.test",
        "ftp://lab.uni.test/",
        "https://",
        "https://example.com/",
        "https://measurements.example.org/us",
        "https://operator.example/",
        "https://localhost/",
        "https://192.0.2.1/",
        "https://[2001:db8::1]/",
        "https://intranet/",
        "https://lab.uni.test/a b",
        "https://lab.uni.test/)x",
        "https://lab.uni.test/\r\nX: y",
        "https://bücher.test/",
    ],
)
def test_a_url_that_leads_to_nobody_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(ConfigurationError, match="page of your own") as refused:
        user_agent_suffix(url)
    assert "\n" not in str(refused.value)


def test_a_url_of_the_box_is_good_in_the_box_only() -> None:
    check_operator("https://operator.test/", ["https://a.test/", "b.test"])
    check_operator("https://lab.uni.edu/", ["https://wikipedia.org/", "b.test"])
    with pytest.raises(ConfigurationError, match=r"wikipedia\.org is outside"):
        check_operator("https://operator.test/", ["https://a.test/", "https://wikipedia.org/"])
