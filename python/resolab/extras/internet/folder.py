"""The folder of a box: made for a single box, kept or not, and read again afterwards.

For: a box's files on disk. Not for: the files of its programs.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from resolab.basics.errors import ConfigurationError, UsageError
from resolab.extras.internet.failures import OPT_OUT_FILE
from resolab.extras.internet.layout import BoxLayout
from resolab.lab.scratch import scratch_folder

LAYOUT_FILE, OPT_OUT_FOLDER, STATE_FOLDER = "box.json", "opt-out", "state"


@contextmanager
def box_folder(kept: Path | None) -> Iterator[Path]:
    """Make the folder of a box: a kept folder, which must be new or empty, or a folder removed with the box."""
    if kept is None:
        with scratch_folder() as folder:
            # An ordinary user at home reads the authority and the opt-out list.
            folder.chmod(0o755)
            yield _prepare(folder)
        return
    kept.mkdir(parents=True, exist_ok=True)
    if any(kept.iterdir()):
        raise UsageError(f"folder {kept} is not empty: a box needs one of its own")
    yield _prepare(kept.resolve())


def new_folder_below(boxes: Path) -> Path:
    """Make the next folder of a box below another: 1, 2 and so on; several commands may ask at the same time."""
    boxes.mkdir(parents=True, exist_ok=True)
    number = 1 + max((int(one.name) for one in boxes.iterdir() if one.name.isdigit()), default=0)
    while True:
        try:
            (boxes / str(number)).mkdir()
        except FileExistsError:
            number += 1
        else:
            return boxes / str(number)


def folders_below(boxes: Path) -> list[Path]:
    """List the folders of kept boxes below a folder."""
    found = sorted(file.parent for file in boxes.rglob(LAYOUT_FILE))
    if not found:
        raise ConfigurationError(f"there is no box below {boxes}: give the folder of those kept with --boxes")
    return found


def _prepare(folder: Path) -> Path:
    (folder / OPT_OUT_FOLDER).mkdir()
    (folder / STATE_FOLDER).mkdir()
    (folder / OPT_OUT_FOLDER / OPT_OUT_FILE).write_text("# one domain a line\n", "utf-8")
    return folder


def read_layout(folder: Path) -> BoxLayout:
    """Read the layout of a box."""
    file = folder / LAYOUT_FILE
    try:
        return msgspec.json.decode(file.read_bytes(), type=BoxLayout)
    except (OSError, msgspec.DecodeError) as error:
        raise ConfigurationError(f"failed to read box {file}: {error}; give the folder kept with --folder") from error
