"""The parser of every command: argparse's, which asks what a mistyped word was meant to be.

For: one class that subcommands inherit. Not for: any command's arguments.
"""

import argparse
import re
from typing import NoReturn

from resolab.wording import meant

_CHOICE = re.compile(r"invalid choice: '(?P<given>[^']*)' \(choose from (?P<known>.*)\)$")


class Parser(argparse.ArgumentParser):
    """Refuses as argparse does; near the end of a long list of choices stands the one that was meant."""

    def error(self, message: str) -> NoReturn:
        """Say what cannot be, and end with exit code 2."""
        found = _CHOICE.search(message)
        if found is not None:
            message += meant(found["given"], re.findall(r"[\w.-]+", found["known"]))
        super().error(message)
