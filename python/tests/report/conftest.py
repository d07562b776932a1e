"""The papers' figures take longer than all the rest of a report: only their own tests build reports that have them."""

from collections.abc import Iterator

import pytest

from resolab.report import build

WITH_PAPERS = ("test_s24", "test_h20", "test_levels")


@pytest.fixture(scope="module", autouse=True)
def without_papers(request: pytest.FixtureRequest) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if request.module.__name__.rpartition(".")[2] not in WITH_PAPERS:
            patch.setattr(build, "_papers", lambda _dataset, _findings: [])
        yield
