"""Broken recordings of the bench: a seed's rounds are the same whatever was drawn before, and all are read."""

from benches.recordings import broken


def test_rounds_leave_nothing_behind_for_later_ones() -> None:
    odd = repr(broken.ODD)
    first = broken.run(500, seed=1)
    assert repr(broken.ODD) == odd
    assert first["a model"] > 50
    assert first["an error in words"] > 50
    again = broken.run(500, seed=1)
    del first["seconds"], again["seconds"]
    assert again == first
