"""What the bench of announced names says of real pages."""

from benches.announced import pages
from benches.common.corpus import page_models
from resolab.pages.path import AnnouncementMode


def test_real_pages_save_what_their_structure_says() -> None:
    models = list(page_models())
    assert len(models) == 37
    push, hints = (
        pages.compare_loads(models, one, 0.0, 91.9)
        for one in (AnnouncementMode.SERVER_PUSH, AnnouncementMode.EARLY_HINTS)
    )
    assert push.pages_count == 37
    assert 0 <= hints.median_ms <= push.median_ms
    assert push.lower_quartile_ms <= push.median_ms <= push.upper_quartile_ms
