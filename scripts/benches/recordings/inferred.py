"""The accuracy of inferred discoverers: real recordings, read twice, with and without initiators.

For: `scripts/bench recordings --folder HARS`. The truth is the recorder's initiator. Requests without an initiator, or
with an implausible one, are left out. Not for: the accuracy of recorders.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from resolab.extras.recordings.har.reader import read_har
from resolab.extras.recordings.model_builder import build
from resolab.extras.recordings.recording import Recording
from resolab.extras.recordings.recording_file import RecordingForm, open_recording
from resolab.pages.facts import depths
from resolab.pages.model import Discovery, Evidence

LEAST_NAMED = 8
_BY_RUNS = {Discovery.SCRIPT, Discovery.INLINE_SCRIPT, Discovery.LATE}


@dataclass(frozen=True, slots=True)
class InferenceAccuracy:
    """The comparison of a recording."""

    name: str
    named_count: int
    parent_ratio: float
    kind_ratio: float
    """The share of right kinds: markup, style sheet or script."""
    depth: int
    inferred_depth: int


def compare(folder: Path) -> Iterator[InferenceAccuracy]:
    """Compare every recording with named discoverers in a folder."""
    for file in sorted(folder.glob("*.har*")):
        opened = open_recording(file)
        if opened.form is not RecordingForm.HAR:
            continue
        recording = read_har(opened.content, str(file))
        blind = read_har(opened.content, str(file))
        blind.exchanges = [replace(one, initiator=None) for one in blind.exchanges]
        found = _compare(file.name, recording, blind)
        if found is not None:
            yield found


def _compare(name: str, recording: Recording, blind: Recording) -> InferenceAccuracy | None:
    if sum(one.initiator is not None for one in recording.exchanges) < 0.5 * len(recording.exchanges):
        return None
    told, guessed = build(recording, "told").resources, build(blind, "guessed").resources
    named = [
        (one, other) for one, other in zip(told[1:], guessed[1:], strict=True) if one.evidence is Evidence.INITIATOR
    ]
    if len(named) < LEAST_NAMED:
        return None
    return InferenceAccuracy(
        name=name,
        named_count=len(named),
        parent_ratio=sum(one.parent == other.parent for one, other in named) / len(named),
        kind_ratio=sum(_kind(one.discovery) == _kind(other.discovery) for one, other in named) / len(named),
        depth=max(depths(told)),
        inferred_depth=max(depths(guessed)),
    )


def _kind(discovery: Discovery) -> str:
    return "script" if discovery in _BY_RUNS else discovery.value
