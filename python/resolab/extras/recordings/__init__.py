"""Page loads recorded by others, as page models: HAR files, logs of the Chrome DevTools Protocol, trials of our own."""

from resolab.extras.recordings.importer import import_page
from resolab.extras.recordings.recording_file import STANDARD_INPUT

__all__ = ["STANDARD_INPUT", "import_page"]
