"""Of conditions the paper did not vary one is drawn, and captions name its levels."""

from synthetic_dataset import PLAN_TEXT, make_plan

from resolab.studies.s24.scope import choose_scope

BROWSERS = PLAN_TEXT.replace("[resolver_path]", 'browser = ["firefox", "chromium"]\n[resolver_path]')


def test_a_plan_like_the_papers_has_no_note() -> None:
    scope = choose_scope(make_plan(PLAN_TEXT))
    assert (scope.left_out_count, scope.note) == (0, "")


def test_of_two_browsers_the_first_is_drawn_and_named() -> None:
    scope = choose_scope(make_plan(BROWSERS))
    drawn = {str(condition.browser) for cell in scope.cells.values() for condition in cell.values()}
    assert drawn == {"firefox"}
    assert scope.left_out_count == sum(len(cell) for cell in scope.cells.values())
    assert scope.note.endswith("of each combination the first of the plan is drawn, with browser firefox.")
