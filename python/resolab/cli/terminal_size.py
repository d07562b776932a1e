"""The terminal's size as told by the environment: `COLUMNS` and `LINES`.

For: `main`, once, before any console is made. Not for: the width of tables in files and pipes.
"""

import re
from collections.abc import MutableMapping

_SIZE = re.compile(r"0*[1-9][0-9]{0,3}", re.ASCII)
"""From 1 to 9999: no terminal is wider, and padding to a greater width would fill the memory."""


def drop_unusable_size(environment: MutableMapping[str, str]) -> None:
    """Remove a size that no terminal has, such as `COLUMNS=0`: rich would print nothing at all to such a width."""
    for name in ("COLUMNS", "LINES"):
        if name in environment and not _SIZE.fullmatch(environment[name]):
            del environment[name]
