"""What the fleet keeps in JetStream: the queue of jobs, the buckets of runs and states, a store of results per agent.

For: making them, as often as one likes. Not for: what goes through them (`transfer`, `operations`), who may use them
(`server_config`).
"""

import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext

from resolab.fleet.server_folder import DEFAULT_QUOTA_BYTES
from resolab.fleet.transfer import AGENTS, JOBS, LEASE_S, RUNS, asked, results_of

DUPLICATE_WINDOW_S = 3600.0
"""Within this a job that is published twice is one."""
STATE_BYTES = 64 * 1024
"""An agent's word on itself has some hundred."""
LEAST_MESSAGES, BYTES_A_MESSAGE = 10_000, 16 * 1024
"""Results may have so many messages, whatever their quota, and beyond that one for so many bytes of it."""
_OTHER_CONFIGURATION = 10058
"""JetStream's number for: there is a stream of this name, made otherwise."""


async def prepare_streams(js: JetStreamContext) -> None:
    """Make what all vantage points share."""
    async with asked("prepare the fleet's queues"):
        await _stream(
            js,
            StreamConfig(
                name=JOBS,
                subjects=["jobs.>"],
                retention=RetentionPolicy.WORK_QUEUE,
                storage=StorageType.FILE,
                duplicate_window=DUPLICATE_WINDOW_S,
            ),
        )
        await _stream(js, _bucket(RUNS))
        await _stream(js, _bucket(AGENTS, largest_bytes=STATE_BYTES))


async def prepare_agent(js: JetStreamContext, vantage: str, quota_bytes: int = DEFAULT_QUOTA_BYTES) -> None:
    """Make what one vantage point has for itself: its share of the queue, its store of results."""
    async with asked(f"prepare the queue of {vantage}"):
        consumer = ConsumerConfig(
            name=vantage,
            durable_name=vantage,
            filter_subject=f"jobs.*.{vantage}",
            ack_policy=AckPolicy.EXPLICIT,
            ack_wait=LEASE_S,
            # A job that was refused waits for its time without holding up those behind it; an agent takes one by one.
            max_ack_pending=-1,
            max_deliver=-1,
        )
        await js.add_consumer(JOBS, consumer)
        await _stream(js, _results(vantage, quota_bytes))


async def set_quota(js: JetStreamContext, vantage: str, quota_bytes: int) -> None:
    """Say how much the results of a vantage point may take; what is there stays, however much it is."""
    async with asked(f"set the quota of {vantage}"):
        await js.update_stream(_results(vantage, quota_bytes))


def _bucket(name: str, *, largest_bytes: int | None = None) -> StreamConfig:
    """Configure a key-value bucket as clients expect it, but that no message may empty it.

    Clients' own call allows roll-ups, and one of those, published to a single key, can take all others away.
    """
    return StreamConfig(
        name=f"KV_{name}",
        subjects=[f"$KV.{name}.>"],
        storage=StorageType.FILE,
        discard=DiscardPolicy.NEW,
        max_msgs_per_subject=1,
        max_msg_size=largest_bytes,
        allow_direct=True,
        allow_rollup_hdrs=False,
        deny_delete=True,
    )


def _results(vantage: str, quota_bytes: int) -> StreamConfig:
    """Configure an object store as clients expect it, but that it ends somewhere."""
    store = results_of(vantage)
    return StreamConfig(
        name=f"OBJ_{store}",
        subjects=[f"$O.{store}.C.>", f"$O.{store}.M.>"],
        storage=StorageType.FILE,
        max_bytes=quota_bytes,
        max_msgs=max(LEAST_MESSAGES, quota_bytes // BYTES_A_MESSAGE),
        discard=DiscardPolicy.NEW,
        allow_direct=True,
        allow_rollup_hdrs=True,
    )


async def _stream(js: JetStreamContext, config: StreamConfig) -> None:
    try:
        await js.add_stream(config)
    except nats.js.errors.BadRequestError as error:
        if error.err_code != _OTHER_CONFIGURATION:
            raise
        await js.update_stream(config)
