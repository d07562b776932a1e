"""The parser of every command: argparse's, with a suggestion for a mistyped word.

For: the common class of all subcommands' parsers. Not for: any command's arguments.
"""

import argparse
import re
from typing import NoReturn

from resolab.basics.wording import suggest_word

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)$")


class Parser(argparse.ArgumentParser):
    """An argparse parser with a suggestion for the intended choice at the end of the error."""

    def error(self, message: str) -> NoReturn:
        """Print the error, and end with exit code 2."""
        found = _CHOICE.search(message)
        if found is not None:
            message += suggest_word(found["given"], re.findall(r"[\w.-]+", found["known"]))
        super().error(message)
