"""The choices of the command line are the words of the records; written there anew, as its help must be quick."""

import argparse
from enum import StrEnum

import pytest

from resolab.basics.records import DohMethod, HandshakeMode, PathBackend
from resolab.cli.calibrate_arguments import add_calibrate
from resolab.cli.query.arguments import add_query


@pytest.mark.parametrize(
    ("add", "option", "words"),
    [
        (add_query, "--handshake", HandshakeMode),
        (add_query, "--doh-method", DohMethod),
        (add_calibrate, "--backend", PathBackend),
    ],
)
def test_every_word_can_be_chosen(add, option: str, words: type[StrEnum]) -> None:
    parser = add(argparse.ArgumentParser().add_subparsers())
    choices = next(one.choices for one in parser._actions if option in one.option_strings)
    assert set(choices) == set(words)
