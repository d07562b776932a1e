"""What happened in a load, from the client's side alone: no server of the page or the resolver tells anything.

For: handshakes, DNS connections and failures, by the browser's own log, our stub's records and our own client's
repeats; `None` where these do not tell. Not for: the lab's loads, which the edge judges (`testbed.judgement`), or
running anything.
"""

from resolab.live.judged.judging import JudgedLive, judge_load
from resolab.live.judged.log_reading import LoadLog, log_settings
from resolab.live.judged.look_up_failure import ToldBy
from resolab.live.judged.seen_connection import SeenConnection

__all__ = [
    "JudgedLive",
    "LoadLog",
    "SeenConnection",
    "ToldBy",
    "judge_load",
    "log_settings",
]
