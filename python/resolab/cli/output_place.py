"""Places for results on the command line, and `-`, the word for standard output.

For: `-o` of every command with one. Not for: writing.
"""

import argparse
from pathlib import Path

STANDARD_OUTPUT = Path("-")


def read_output_place(text: str) -> Path:
    """Read a file or folder; refuse `-`, for commands that do not write their result to standard output."""
    if Path(text) == STANDARD_OUTPUT:
        raise argparse.ArgumentTypeError("- is standard output, and this needs a file or a folder with a name")
    return Path(text)
