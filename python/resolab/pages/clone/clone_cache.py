"""Clones made once and kept, for plans naming a page model or drawing pages.

For: from a model or its file to the folder of its clone, in the user's cache. Not for: writing clones (`folder`).

The key of a kept clone is a hash of the model's bytes and of the clone code: a change of either gives another folder.
When two processes make the same clone at a time, the first clone counts; a finished folder never changes.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from resolab.pages.clone.folder import write_clone
from resolab.pages.file import ENDING, model_text, read_model
from resolab.pages.model import PageModel

SEED = 1
"""The seed of the filling bytes, without meaning for a load."""
_CODE = Path(__file__).resolve().parent


def find_or_make_clone(model_file: Path) -> Path:
    """Return the folder of a model's clone, made if missing; the folder has the page's name."""
    model = read_model(model_file)
    return _find_or_make(model, model_file.name.removesuffix(ENDING), model_file.read_bytes())


def find_or_make_clone_of_model(model: PageModel) -> Path:
    """Return the clone's folder for a model without a file, made if missing; the folder has the model's name."""
    return _find_or_make(model, model.name, model_text(model).encode())


def _find_or_make(model: PageModel, name: str, content: bytes) -> Path:
    folder = cache_folder() / _key(content) / name
    if (folder / "page.toml").is_file():
        return folder
    folder.parent.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent.parent, prefix="making-") as making:
        write_clone(model, Path(making) / name, seed=SEED)
        folder.parent.mkdir(exist_ok=True)
        try:
            (Path(making) / name).rename(folder)
        except OSError:
            if not (folder / "page.toml").is_file():
                raise
    return folder


def cache_folder() -> Path:
    """Find the folder for reproducible files (XDG Base Directory Specification)."""
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "resolab" / "clones"


def _key(content: bytes) -> str:
    digest = hashlib.sha256(content)
    for file in sorted(_CODE.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:20]
