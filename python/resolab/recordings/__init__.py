"""Page loads recorded by others, as page models: HAR files, logs of the Chrome DevTools Protocol, trials of our own."""

from resolab.recordings.imported import import_page
from resolab.recordings.opened import STANDARD_INPUT

__all__ = ["STANDARD_INPUT", "import_page"]
