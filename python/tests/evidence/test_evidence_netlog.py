"""Of a browser's log the events of one trial are left, in a file that is whole."""

import json

from resolab.extras.evidence.netlog import cut

HEAD = ['{"constants": {"timeTickOffset": "5"},\n', '"events": [\n']
EVENTS = [
    '{"phase":0,"source":{"id":1,"type":4},"time":"99","type":1},\n',
    '{"phase":0,"source":{"id":2,"type":4},"time":"100","type":1},\n',
    '{"phase":1,"source":{"id":2,"type":4},"time":"101","type":1},\n',
]
LAST = '{"phase":1,"source":{"id":2,"type":4},"time":"102","type":1}'


def times(lines: list[str], since_ms: float, until_ms: float) -> list[str]:
    text = "".join(cut(lines, round(since_ms * 1e6), round(until_ms * 1e6)))
    log = json.loads(text)
    assert log["constants"] == {"timeTickOffset": "5"}
    return [event["time"] for event in log["events"]]


def test_only_what_happened_in_the_trial_is_left() -> None:
    whole = [*HEAD, *EVENTS, f"{LAST}],\n", '"polledData": {"a": []}}\n']
    assert times(whole, 100.4, 100.6) == ["100", "101"]
    assert times(whole, 0, 1000) == ["99", "100", "101", "102"]
    assert times(whole, 103, 104) == []


def test_a_log_that_is_still_written_or_was_cut_off_is_read_as_far_as_it_goes() -> None:
    assert times([*HEAD, *EVENTS], 0, 1000) == ["99", "100", "101"]
    assert times([*HEAD, *EVENTS, LAST[:30]], 0, 1000) == ["99", "100", "101"]
    assert times([*HEAD, *EVENTS, f"{LAST}]}}\n"], 0, 1000) == ["99", "100", "101", "102"]
