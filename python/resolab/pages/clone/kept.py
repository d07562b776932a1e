"""Clones that are made once and kept, for plans that name a page model or have pages drawn.

For: from a model or its file to the folder of its clone, in the user's cache. Not for: writing clones (`folder`).

What is kept is found by the model's bytes and by the code that makes clones: another of either is another folder. Of
two that make the same at a time the first one counts; nothing is ever changed in place.
"""

import hashlib
import os
import tempfile
from pathlib import Path

from resolab.pages.clone.folder import write_clone
from resolab.pages.file import ENDING, model_text, read_model
from resolab.pages.model import PageModel

SEED = 1
"""Of the bytes nobody looks at."""
_CODE = Path(__file__).resolve().parent


def kept_clone(model_file: Path) -> Path:
    """Give the folder of a model's clone, made if it is not there; its name is the page's."""
    model = read_model(model_file)
    return _kept(model, model_file.name.removesuffix(ENDING), model_file.read_bytes())


def kept_clone_of(model: PageModel) -> Path:
    """Give the folder of the clone of a model that has no file, made if it is not there; its name is the model's."""
    return _kept(model, model.name, model_text(model).encode())


def _kept(model: PageModel, name: str, content: bytes) -> Path:
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
    """Find the place for what can be made again (XDG Base Directory Specification)."""
    named = os.environ.get("XDG_CACHE_HOME")
    return (Path(named) if named else Path.home() / ".cache") / "resolab" / "clones"


def _key(content: bytes) -> str:
    digest = hashlib.sha256(content)
    for file in sorted(_CODE.glob("*.py")):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:20]
