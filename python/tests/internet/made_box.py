"""A layout of two pages, for tests that start nothing."""

from functools import cache
from pathlib import Path

from resolab.extras.internet import BoxLayout, compose

PAGES = ("calibre-2020-07", "google-2018-11")


@cache
def a_layout() -> BoxLayout:
    return compose(Path("/nowhere/opt-out"), PAGES)
