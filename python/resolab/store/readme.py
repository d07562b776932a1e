"""The README inside a dataset: content, origin, meaning of the columns and ways of opening.

For: people with only the folder. Not for: the data dictionary (`columns`).
"""

import time
import tomllib
from collections.abc import Mapping

from resolab.basics.wording import format_count
from resolab.store.columns import TABLES
from resolab.store.manifest import Manifest

_TABLE_WORDS = {
    "trials": "one trial: block, position, condition and its levels, clocks, load average, flags",
    "page_loads": "one page load as the browser saw it; `measured` is false for the warm-up",
    "requests": "one request of a measured page load",
    "queries": "one DNS query of resolab's own client (`purpose` `measured`) or of the stub (`forwarded`)",
    "fetches": "one name and document, fetched by resolab's own client",
    "study_values": "values of a study's own trials: times, counts and bytes, named by the study",
    "edge_queries": "one DNS query as the edge saw it; behind `[software.NAME]` the query of the resolver",
    "edge_requests": "one HTTP request as the web server saw it",
    "connections": "one connection as the server saw it",
    "flows": "one five-tuple on the emulated link during one trial",
    "path_summaries": "the emulated link's own account of one trial",
    "pings": "pings of a live trial's resolver",
    "gateway_legs": "one connection of a browser to the gateway",
    "gateway_connections": "one connection of the gateway to a server",
    "gateway_requests": "one request that passed the gateway, and which connection it went on",
    "gateway_speculations": "a document asked for in the flight of its name's query, and what became of it",
    "software": "processor time and memory of the plan's own software during one trial",
    "live_trials": "how one live trial was carried out, and whom it contacted",
}
_OF_THE_LAB = (
    "Page loads and DNS queries over an emulated access network on one machine, each trial under one combination",
    "of DNS transport, HTTP version and handshake; every block holds each condition once, in random order.",
)
_LIVE = (
    "Page loads and DNS queries over the real network, each trial one site under one resolver and DNS transport; every",
    "block holds one site, its configurations in random order. No body, cookie or query string was kept.",
)
_OPENING = """## Open it

Every example prints the median page load time of each condition. They run in this folder and drop loads that failed,
which the report does not: there a failed load counts as at least its limit.

DuckDB:

```sql
SELECT t.condition, median(l.plt_ms), count(*)
FROM 'tables/trials.parquet' t JOIN 'tables/page_loads.parquet' l USING (trial_id)
WHERE l.measured AND l.failure IS NULL GROUP BY ALL ORDER BY ALL;
```

pandas (with pyarrow or fastparquet):

```python
import pandas
trials, loads = (pandas.read_parquet(f"tables/{name}.parquet") for name in ("trials", "page_loads"))
loads = loads[loads.measured & loads.failure.isna()].merge(trials, on="trial_id")
print(loads.groupby("condition").plt_ms.agg(["median", "count"]))
```

polars:

```python
import polars
trials, loads = (polars.scan_parquet(f"tables/{name}.parquet") for name in ("trials", "page_loads"))
good = loads.filter(polars.col("measured") & polars.col("failure").is_null()).join(trials, on="trial_id")
print(good.group_by("condition").agg(polars.col("plt_ms").median(), polars.len()).sort("condition").collect())
```

R (with arrow):

```r
trials <- arrow::read_parquet("tables/trials.parquet")
loads <- arrow::read_parquet("tables/page_loads.parquet")
good <- merge(loads[loads$measured & is.na(loads$failure), ], trials, by = "trial_id")
aggregate(plt_ms ~ condition, good, median)
```

R (with duckdb; any of DuckDB's SQL):

```r
connection <- DBI::dbConnect(duckdb::duckdb(bigint = "integer64"))
DBI::dbGetQuery(connection, "
    SELECT t.condition, median(l.plt_ms), count(*)
    FROM 'tables/trials.parquet' t JOIN 'tables/page_loads.parquet' l USING (trial_id)
    WHERE l.measured AND l.failure IS NULL GROUP BY ALL ORDER BY ALL")
DBI::dbDisconnect(connection)
```

R has no 64-bit integers of its own: clocks (`_ns`) are `integer64` of the package bit64, which both readers use.
"""


def dataset_readme(manifest: Manifest, rows_count: Mapping[str, int]) -> str:
    """Describe a dataset in Markdown."""
    return "\n".join(
        [*_head(manifest), "", *_origin(manifest), "", *_contents(rows_count), "", _OPENING, *_use(manifest)]
    )


def published_readme(manifest: Manifest, rows_count: Mapping[str, int]) -> str:
    """Describe a published folder in Markdown: tables without trial files, and possibly without some tables."""
    origin, contents = _origin(manifest), _published_contents(rows_count)
    return "\n".join([*_head(manifest), "", *origin, "", *contents, "", _OPENING, *_use(manifest)])


def _head(manifest: Manifest) -> list[str]:
    trials = f"{manifest.trials_finished_count} of {manifest.trials_planned_count} trials"
    done = f"{trials} in {format_count(manifest.blocks, 'block')}"
    lines = [
        f"# Dataset {manifest.dataset_id}",
        "",
        f"Plan: **{manifest.plan}**. {_question(manifest.plan_text)}",
        "",
        *(_OF_THE_LAB if manifest.live is None else _LIVE),
        f"n: {done}; status: {manifest.status}.",
    ]
    for one in manifest.merged_from:
        blocks = f"blocks {one.first_block} to {one.first_block + one.blocks - 1}"
        lines += [
            "",
            f"Merged: {blocks} are run {one.dataset_id} (`manifests/{one.dataset_id}.json`), seed {one.seed}.",
        ]
    lines += [line for text in manifest.warnings for line in ("", f"Warning: {text}.")]
    return lines


def _question(plan_text: str) -> str:
    try:
        return " ".join(str(tomllib.loads(plan_text).get("question", "")).split())
    except tomllib.TOMLDecodeError:
        return ""


def _origin(manifest: Manifest) -> list[str]:
    versions, machine = manifest.versions, manifest.machine
    browsers = versions.browsers or ({"browser": versions.browser} if versions.browser else {})
    programs = [f"resolab {versions.resolab}", f"resolab-core {versions.resolab_core or 'unknown'}"]
    # Browsers name themselves in their version.
    programs += [
        version if version.casefold().startswith(name) else f"{name} {version}".removeprefix("browser ")
        for name, version in browsers.items()
    ]
    begun, ended = _instant(manifest.created_unix_ns), _instant(manifest.ended_unix_ns)
    where = f"{machine.kernel}, {machine.architecture}, {machine.cores_count} cores"
    return [
        "## How it was made",
        "",
        f"- begun {begun}, ended {ended} (UTC), seed {manifest.seed}",
        f"- `{' '.join(manifest.command_line)}`",
        f"- {', '.join(programs)}, commit {manifest.git_commit or 'unknown'}",
        f"- {where}, {machine.processor or 'processor unknown'}",
        _network(manifest),
    ]


def _network(manifest: Manifest) -> str:
    if manifest.live is None:
        profiles = ", ".join(one.name for one in manifest.profiles)
        return f"- access profiles: {profiles}; all parameters are in manifest.json"
    live = manifest.live
    return (
        f"- vantage point {live.vantage_point}, operator {live.operator_url}; sites and resolvers are in manifest.json"
    )


def _instant(time_unix_ns: int | None) -> str:
    if time_unix_ns is None:
        return "not yet"
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(time_unix_ns / 1e9))


def _contents(rows_count: Mapping[str, int]) -> list[str]:
    lines = [
        "## What is in it",
        "",
        "- `manifest.json`, `plan.toml`: what was asked, where and with what",
        "- `trials/*.jsonl`: the raw records, one file per trial; everything else can be made from them",
        "- `tables/*.parquet`: the same as tables; every column with type and meaning: `tables/README.md`",
        "- `report/index.html`: the report; `resolab report` makes tables and report anew",
    ]
    return [*lines, *_rows_of_tables(rows_count)]


def _published_contents(rows_count: Mapping[str, int]) -> list[str]:
    missing = [f"`{table}`" for table in TABLES if table not in rows_count]
    lines = [
        "## What is in it",
        "",
        "A published dataset: every table is here, the trial files behind them are not. `resolab report`, `compare`,",
        "`plan power --from` and `export` read this folder as any other dataset.",
        "",
        "- `manifest.json`, `plan.toml`: what was asked, where and with what",
        "- `tables/*.parquet`: the measurements; every column with type and meaning: `tables/README.md`",
        "- `as_published.html`: sentences and tables of the report as published; its figures: `resolab report`",
        "- `figures/*.csv`: the numbers of small figures, and of figures that the report no longer makes alike",
        "- `figures/SHA256SUMS`: the numbers of the figures that `resolab report` makes again byte for byte; in",
        "  `report/`: `sha256sum --check ../figures/SHA256SUMS`",
    ]
    if missing:
        lines[2:4] = [
            "A published dataset: tables without the trial files behind them, which no longer exist. Of the tables of",
            f"its format it lacks {', '.join(missing)}.",
            "`resolab report`, `compare`, `plan power --from` and `export` read this folder as any other dataset; the",
            "report has a line in place of each part that needs a missing table.",
        ]
    return [*lines, *_rows_of_tables(rows_count)]


def _rows_of_tables(rows_count: Mapping[str, int]) -> list[str]:
    described = [table for table in TABLES if table in rows_count]
    return [
        "",
        "| table | rows | each row is |",
        "|---|---:|---|",
        *(f"| `{table}` | {rows_count[table]} | {_TABLE_WORDS[table]} |" for table in described),
        "",
        "Tables join on `trial_id`. Units stand in the names (`_ns`, `_ms`, `_bytes`, `_count`); null means: did not",
        "happen. A failed load or query is a row whose `failure` says why; dropping such rows lets a transport look",
        "better by failing.",
    ]


def _use(manifest: Manifest) -> list[str]:
    named = f"Name the dataset ({manifest.dataset_id}), the plan ({manifest.plan}), resolab {manifest.versions.resolab}"
    return [
        "## Cite and share",
        "",
        f"{named} and the commit above; that is enough to run it again.",
        "No licence is given by the program: whoever publishes the folder adds a LICENSE file (CC BY 4.0 and CC0 1.0",
        "are usual for measurements).",
        "",
    ]
