"""A file of any known form as a page model. Not for: the meaning of a form (`har.reader`, `devtools.reader`)."""

from collections.abc import Callable
from pathlib import Path

from resolab.basics.errors import ConfigurationError
from resolab.extras.recordings.devtools.reader import read_cdp
from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.extras.recordings.recording import Recording
from resolab.extras.recordings.recording_file import RecordingForm, open_recording
from resolab.extras.recordings.trial import read_trial_file
from resolab.pages.model import PageModel

_READERS: dict[RecordingForm, Callable[[bytes | memoryview, str], Recording]] = {
    RecordingForm.HAR: read_har,
    RecordingForm.CDP: read_cdp,
    RecordingForm.TRIAL: read_trial_file,
}


def import_page(file: Path, name: str, *, keep_names: bool = False) -> PageModel:
    """Read a recording; the error names the unreadable part."""
    return import_recording(file, name, keep_names=keep_names)


def import_recording(
    file: Path, name: str, *, keep_names: bool, before: Callable[[Recording], None] | None = None
) -> PageModel:
    """Read a recording; `before` may add to the recording before the model is made."""
    opened = open_recording(file)
    recording = _READERS[opened.form](opened.content, str(file))
    recording.sha256 = opened.sha256
    if before is not None:
        before(recording)
    try:
        return build(recording, name, keep_names=keep_names)
    except (ConfigurationError, ValueError) as error:
        raise ConfigurationError(f"failed to read {file}: {error}") from error
