"""Make page models with different numbers of names, and with no other difference.

For: `.venv/bin/python pages/make_name_counts.py` rewrites `pages/names/` from the definitions below. The result is
committed, and a test compares both. Not for: real pages (`pages/corpus`), or pages of files (`make_names`).

Each page has a document and 40 pictures of 4 kB: 42 kB, a short transfer on every link of today. The bytes therefore do
not hide the cost of names. The document of `flat-N` names all pictures, spread over N names. Two look-ups follow each
other: the document's look-up and, at once, all the others. In `chain-N`, three scripts follow each other. Each script
requests a third of the pictures and the next script, from separate names. The look-ups are: the document's, each
script's, and the pictures' of the last script, if the script has more than one name.
"""

from pathlib import Path

from resolab.pages.file import ENDING, model_text
from resolab.pages.model import Discovery, Evidence, Host, Kind, PageModel, Resource, ScriptMode, Source

FOLDER = Path(__file__).resolve().parent / "names"
PICTURES_COUNT = 40
PICTURE_BYTES, SCRIPT_BYTES, DOCUMENT_BYTES = 4_000, 2_000, 12_000
STEPS = 3
FLAT = (1, 2, 4, 8, 12, 20, 30, 40)
CHAIN = (4, 10, 19, 40)
"""One name and three groups of equal size."""


def flat(names: int) -> PageModel:
    """Make a page with all pictures in the document."""
    pictures = [
        _asked(Kind.IMAGE, Discovery.DOCUMENT, 0, number % names, size_bytes=PICTURE_BYTES, place=0.5)
        for number in range(PICTURES_COUNT)
    ]
    return _page(f"flat-{names}", names, pictures)


def chain(names: int) -> PageModel:
    """Make a script at a new name request pictures at new names and the next script, and repeat this for each step."""
    group = (names - 1) // STEPS
    others: list[Resource] = []
    parent = 0
    for step in range(STEPS):
        of_step = [1 + step * group + number for number in range(group)]
        by_script = {"discovery": Discovery.SCRIPT, "due_ms": 0.0}
        script = (
            {"discovery": Discovery.DOCUMENT, "place": 0.5, "script_mode": ScriptMode.ASYNC} if step == 0 else by_script
        )
        others.append(_asked(Kind.SCRIPT, parent=parent, host=of_step[0], size_bytes=SCRIPT_BYTES, **script))
        parent = len(others)
        count = PICTURES_COUNT // STEPS + (step < PICTURES_COUNT % STEPS)
        others += [
            _asked(Kind.IMAGE, parent=parent, host=of_step[number % group], size_bytes=PICTURE_BYTES, **by_script)
            for number in range(count)
        ]
    return _page(f"chain-{names}", 1 + STEPS * group, others)


def _asked(kind: Kind, discovery: Discovery, parent: int, host: int, *, size_bytes: int, **more: object) -> Resource:
    return Resource(
        kind=kind,
        discovery=discovery,
        evidence=Evidence.INITIATOR,
        parent=parent,
        host=host,
        start_ms=float(parent + 1),
        wire_bytes=size_bytes,
        raw_bytes=size_bytes,
        **more,  # type: ignore[arg-type]
    )


def _page(name: str, names: int, others: list[Resource]) -> PageModel:
    document = Resource(
        kind=Kind.DOCUMENT,
        discovery=Discovery.NAVIGATION,
        evidence=Evidence.INITIATOR,
        host=0,
        start_ms=0.0,
        wire_bytes=DOCUMENT_BYTES,
        raw_bytes=DOCUMENT_BYTES,
    )
    return PageModel(
        name=name,
        source=Source(form="generated", creator="pages/make_name_counts.py", initiators=True, async_stacks=True),
        hosts=tuple(Host(site=number) for number in range(names)),
        resources=(document, *others),
    )


def models() -> list[PageModel]:
    """Make all page models."""
    return [*map(flat, FLAT), *map(chain, CHAIN)]


def main() -> None:
    """Write every page model to its file."""
    FOLDER.mkdir(exist_ok=True)
    for model in models():
        (FOLDER / f"{model.name}{ENDING}").write_text(model_text(model), "utf-8")


if __name__ == "__main__":
    main()
