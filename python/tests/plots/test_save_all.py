"""Many drawings are what each alone is, in their order, whoever wrote them."""

from pathlib import Path

import pytest
from matplotlib.figure import Figure

from resolab.report.plots import Drawing, save_drawing, save_drawings


def drawing(name: str, panels: int) -> Drawing:
    figure = Figure(layout="constrained")
    for axes in figure.subplots(1, panels, squeeze=False)[0]:
        axes.plot([1, 2], [3, 4], label=name)
        axes.legend()
    return Drawing(name, f"caption of {name}", figure, [{"x": 1, "y": 3}])


def all_of(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir()}


def test_files_and_order_are_those_of_one_after_the_other(tmp_path: Path) -> None:
    wanted = [("one", 1), ("three", 3), ("two", 2)]
    alone = [save_drawing(drawing(*one), tmp_path / "alone") for one in wanted]
    together = save_drawings([drawing(*one) for one in wanted], tmp_path / "together")
    assert together == alone
    assert all_of(tmp_path / "together") == all_of(tmp_path / "alone")
    assert len(all_of(tmp_path / "together")) == 9


@pytest.mark.parametrize("count", [0, 1])
def test_few_need_no_worker(tmp_path: Path, count: int) -> None:
    assert len(save_drawings([drawing("one", 1)] * count, tmp_path)) == count


def test_a_drawing_that_cannot_be_saved_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "two.pdf").mkdir()
    with pytest.raises(IsADirectoryError):
        save_drawings([drawing("one", 1), drawing("two", 1)], tmp_path)
