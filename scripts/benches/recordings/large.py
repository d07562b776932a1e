"""Synthetic HARs of any size: bodies make the larger part, as in archives of real loads with content.

Not for: reading HARs; a separate process reads, and its memory is the reading's alone.
"""

import json
import random
import resource
import time
from pathlib import Path
from typing import IO, Any

from resolab.extras.recordings import import_page

BODY_BYTES = 60_000
HOSTS = 100


def write(file: Path, size_bytes: int) -> int:
    """Write an archive of approximately the given size; return its number of requests."""
    draw = random.Random(1)
    body = "".join(draw.choices("abcdefgh \\n", k=BODY_BYTES))
    count = 0
    with file.open("w", encoding="utf-8") as out:
        out.write('{"log":{"version":"1.2","creator":{"name":"made","version":"1"},"entries":[\n')
        while out.tell() < size_bytes or count == 0:
            _write_entry(out, count, draw, body)
            count += 1
        out.write("]}}")
    return count


def _write_entry(out: IO[str], place: int, draw: random.Random, body: str) -> None:
    host = 0 if place == 0 else draw.randrange(HOSTS)
    kind = "document" if place == 0 else draw.choice(("script", "image", "fetch"))
    text = body[: draw.randrange(BODY_BYTES)]
    entry: dict[str, Any] = {
        "startedDateTime": f"2026-03-01T12:{place // 6000 % 60:02}:{place // 100 % 60:02}.{place % 100:02}0Z",
        "request": {
            "method": "GET",
            "url": f"https://h{host}.made.example/{place}",
            "headers": [{"name": f"x-{number}", "value": "v" * 40} for number in range(12)],
        },
        "response": {"status": 200, "content": {"size": len(text), "text": text}, "bodySize": len(text)},
        "timings": {"wait": 5, "receive": 2},
        "_resourceType": kind,
    }
    out.write((",\n" if place else "") + json.dumps(entry))


def read(file: Path) -> dict[str, float]:
    """Read an archive; return the time taken and the peak memory of this process."""
    start = time.monotonic()
    model = import_page(file, "made")
    seconds = time.monotonic() - start
    # The mapped file counts as resident while its pages are in the page cache; anonymous memory is what is taken.
    status = Path("/proc/self/status").read_text("ascii")
    anonymous_kb = int(next(line.split()[1] for line in status.splitlines() if line.startswith("RssAnon")))
    return {
        "requests": len(model.resources),
        "seconds": seconds,
        "resident_max_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
        "anonymous_mb": anonymous_kb / 1024,
    }
