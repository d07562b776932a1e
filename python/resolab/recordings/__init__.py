"""Page loads recorded by others, as page models: HAR files, logs of the Chrome DevTools Protocol, trials of our own."""

from resolab.recordings.imported import import_page

__all__ = ["import_page"]
