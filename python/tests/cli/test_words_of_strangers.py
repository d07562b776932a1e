"""Whatever a site, a resolver, an agent or its server says: no terminal is commanded, no markup read, no line begun."""

import contextlib
import io
from argparse import Namespace
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolab.basics.errors import MachineError
from resolab.basics.wording import clip_text
from resolab.cli import main as main_module
from resolab.cli.console import Console
from resolab.cli.fleet import agent, runs, serve
from resolab.cli.internet.show import print_table
from resolab.cli.visit import command
from resolab.cli.visit.dry_run import contact_list
from resolab.extras.fleet.results.fetch import ResultFetcher
from resolab.plan.manners import Contact, ContactReason

HOSTILE = st.text(max_size=200) | st.sampled_from(
    [
        "[/x]",
        "[red]x",
        "\x1b]0;owned\x07",
        "\x1b[2J",
        "\u202e",
        "\r\nresolab: done",
        "\x9b1m",
        "\u2028",
        "\x00",
        "\ud800",
    ]
)


def of_a_dry_run(words: str) -> None:
    Console(width=200).print(contact_list([contact(words)]))


def contact(words: str) -> Contact:
    return Contact(
        reason=ContactReason.PAGE, host=words, port=1, carriers=("tcp",), times_at_most=1, per_hour_at_most=1
    )


def of_fetch(words: str) -> None:
    class Refused(ResultFetcher):
        def __init__(self) -> None:
            self.asked_again = []

        @property
        def refused(self) -> list[str]:
            return [words]

    runs._print_left_out(Refused())


def of_an_error(words: str) -> None:
    def fail(_options: Any) -> int:
        raise MachineError(words)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(main_module, "_options", lambda _words: Namespace(run=fail))
        assert main_module.main(["fleet"]) == MachineError.exit_code


def of_a_visit(words: str) -> None:
    command._say(Console(stderr=True, width=400))(words)


SPEAKERS: list[Callable[[str], None]] = [
    of_a_dry_run,
    of_fetch,
    of_an_error,
    serve._say,
    agent._say,
    lambda words: print_table(["a", "b"], [[words, "x"]]),
    of_a_visit,
]


@pytest.mark.parametrize("speak", SPEAKERS)
@settings(max_examples=60, deadline=None)
@given(words=HOSTILE)
def test_what_they_say_is_shown_as_text_of_its_line(speak: Callable[[str], None], words: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(io.StringIO()) as err:
        speak(words)
    said = out.getvalue() + err.getvalue()
    assert all(line.isprintable() for line in said.split("\n")), ascii(said)


@given(st.text(max_size=500), st.integers(1, 300))
def test_what_is_shown_is_clean_and_short(words: str, longest: int) -> None:
    found = clip_text(words, longest=longest)
    assert found.isprintable()
    assert len(found) <= longest + 3
    assert clip_text("plain", longest=longest) == ("plain" if longest >= 5 else f"{'plain'[:longest]}...")
