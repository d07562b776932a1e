"""The fleet's streams in JetStream: the queue of jobs, the buckets of runs and states, a store of results per agent.

For: making the streams, any number of times. Not for: their messages (`transfer`, `operations`), permissions
(`config`).
"""

import nats.js.errors
from nats.js.api import AckPolicy, ConsumerConfig, DiscardPolicy, RetentionPolicy, StorageType, StreamConfig
from nats.js.client import JetStreamContext

from resolab.extras.fleet.server.folder import DEFAULT_QUOTA_BYTES
from resolab.extras.fleet.transfer import AGENTS, JOBS, LEASE_S, RUNS, call_server, format_store_name

DUPLICATE_WINDOW_S = 3600.0
"""The window for dropping a job published twice, in s."""
STATE_BYTES = 64 * 1024
"""The maximum size of an agent's state, in bytes; a usual state has some hundred."""
LEAST_MESSAGES, BYTES_A_MESSAGE = 10_000, 16 * 1024
"""The minimum limit of messages for results under any quota, and the bytes of quota for each further message."""
_OTHER_CONFIGURATION = 10058
"""JetStream's error number for an existing stream of this name with another configuration."""


async def prepare_streams(js: JetStreamContext) -> None:
    """Make the streams shared by all vantage points."""
    async with call_server("prepare the fleet's queues"):
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
    """Make a vantage point's own parts: its share of the queue, its store of results."""
    async with call_server(f"prepare the queue of {vantage}"):
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
    """Set the storage limit of a vantage point's results; existing results stay, at any size."""
    async with call_server(f"set the quota of {vantage}"):
        await js.update_stream(_results(vantage, quota_bytes))


def _bucket(name: str, *, largest_bytes: int | None = None) -> StreamConfig:
    """Configure a key-value bucket as expected by clients, but without roll-ups.

    The clients' own call allows roll-ups, and a single roll-up message, published to a single key, can remove all
    others.
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
    """Configure an object store as expected by clients, but with limits."""
    store = format_store_name(vantage)
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
