"""Columns of the tables, derived from the record structs: one name, one DuckDB type and one description each.

For: the single mapping of a record's shape to a table's. Not for: reading or writing (`tables`).
"""

import enum
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache
from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import msgspec

from resolab.basics.errors import MachineError
from resolab.basics.installation import project_root
from resolab.basics.records import (
    ConnectionRecord,
    EdgeQueryRecord,
    EdgeRequestRecord,
    FetchRecord,
    FlowRecord,
    GatewayConnectionRecord,
    GatewayLegRecord,
    GatewayRequestRecord,
    GatewaySpeculationRecord,
    LiveTrialRecord,
    PageLoadRecord,
    PathSummaryRecord,
    PingRecord,
    QueryRecord,
    ResourceRecord,
    SoftwareRecord,
    StudyValueRecord,
    TrialEndRecord,
    TrialRecord,
)
from resolab.store.derived import DERIVED

SCHEMA_FILE = project_root() / "schema" / "records.schema.json"
TABLES: Mapping[str, type[msgspec.Struct]] = {
    "trials": TrialRecord,
    "page_loads": PageLoadRecord,
    "requests": ResourceRecord,
    "queries": QueryRecord,
    "edge_queries": EdgeQueryRecord,
    "edge_requests": EdgeRequestRecord,
    "connections": ConnectionRecord,
    "flows": FlowRecord,
    "path_summaries": PathSummaryRecord,
    "pings": PingRecord,
    "live_trials": LiveTrialRecord,
    "gateway_legs": GatewayLegRecord,
    "gateway_connections": GatewayConnectionRecord,
    "gateway_requests": GatewayRequestRecord,
    "gateway_speculations": GatewaySpeculationRecord,
    "fetches": FetchRecord,
    "study_values": StudyValueRecord,
    "software": SoftwareRecord,
}
SINCE = (
    dict.fromkeys(("pings", "live_trials"), (1, 12))
    | dict.fromkeys(("gateway_legs", "gateway_connections", "gateway_requests", "gateway_speculations"), (1, 13))
    | {"fetches": (1, 22), "study_values": (1, 23), "software": (1, 25)}
)
"""Tables added by later format versions, by version; in older datasets these tables are empty."""
ALWAYS_PUBLISHED = ("trials", "page_loads")
"""Tables of every published dataset; a published dataset may lack others."""
# From the last line of a trial's file into its row of `trials`.
END_COLUMNS = {
    "end_monotonic_ns": "monotonic_ns",
    **{name: name for name in ("flags", "capture_file", "key_log_file", "netlog_file")},
}
REQUIRED = msgspec.NODEFAULT
_SCALARS = {str: "VARCHAR", int: "BIGINT", float: "DOUBLE", bool: "BOOLEAN"}


@dataclass(frozen=True, slots=True)
class Column:
    """One column: `path` is the value's path in the record, `default` the value for a record without the field.

    With `made` the value is computed from the record. With `of_shapes` the value is a list of shapes, as JSON.
    """

    name: str
    duckdb_type: str
    path: tuple[str, ...]
    description: str
    default: Any = REQUIRED
    made: Callable[[Mapping[str, Any]], Any] | None = None
    of_shapes: bool = False


def list_columns(table: str) -> list[Column]:
    """Columns of a table, the trial's identifier first."""
    columns = [column for column in _list_struct_columns(TABLES[table]) if column.name != "trial_id"]
    if table == "trials":
        end = {column.name: column for column in _list_struct_columns(TrialEndRecord)}
        columns += [replace(end[field], name=name, path=(name,)) for name, field in END_COLUMNS.items()]
    columns += [
        Column(name, kind, (), meaning, None, made) for name, (kind, meaning, made) in DERIVED.get(table, {}).items()
    ]
    return [Column("trial_id", "VARCHAR", ("trial_id",), "The trial this row belongs to."), *columns]


def tables_of_format(format_version: str) -> list[str]:
    """List the tables of a dataset of this format version."""
    version = tuple(map(int, format_version.split(".")))
    return [table for table in TABLES if SINCE.get(table, version) <= version]


def _list_struct_columns(struct: type[msgspec.Struct], above: tuple[str, ...] = ()) -> Iterator[Column]:
    descriptions, defaults = _descriptions(struct.__name__), _defaults(struct)
    for name, annotation in get_type_hints(struct).items():
        if name not in struct.__struct_fields__:
            continue
        kind = _strip_none(annotation)
        path = (*above, name)
        if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
            # Without the shape above there is none of its values.
            absent = defaults[name] is None
            yield from (replace(one, default=None) if absent else one for one in _list_struct_columns(kind, path))
        else:
            column = Column("_".join(path), _duckdb_type(kind), path, descriptions.get(name, ""), defaults[name])
            yield replace(column, of_shapes=_is_list_of_shapes(kind))


def _defaults(struct: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the meaning of each missing field: `REQUIRED`, or the value of records older than the field."""
    found = {}
    for field in msgspec.structs.fields(struct):
        made = field.default if field.default_factory is REQUIRED else field.default_factory()
        found[field.name] = made if made is REQUIRED else msgspec.to_builtins(made)
    return found


def _strip_none(annotation: Any) -> Any:
    if isinstance(annotation, UnionType):
        (kind,) = [part for part in get_args(annotation) if part is not type(None)]
        return kind
    return annotation


def _is_list_of_shapes(kind: Any) -> bool:
    return get_origin(kind) is list and issubclass(_strip_none(get_args(kind)[0]), msgspec.Struct)


def _duckdb_type(kind: Any) -> str:
    if get_origin(kind) is list:
        return _duckdb_type(_strip_none(get_args(kind)[0])) + "[]"
    if issubclass(kind, msgspec.Struct):
        # Of a list: each as JSON, which every format of tables can hold.
        return _SCALARS[str]
    if issubclass(kind, enum.StrEnum):
        return "VARCHAR"
    return _SCALARS[kind]


def _descriptions(struct: str) -> dict[str, str]:
    properties = _schema()[struct].get("properties", {})
    return {name: " ".join(one.get("description", "").split()) for name, one in properties.items()}


@cache
def _schema() -> dict[str, Any]:
    try:
        definitions: dict[str, Any] = json.loads(SCHEMA_FILE.read_text("utf-8"))["$defs"]
    except (OSError, ValueError, KeyError) as error:
        problem = f"{error}; run resolab from a whole checkout"
        raise MachineError(f"failed to read the record schema {SCHEMA_FILE}: {problem}") from error
    return definitions


def data_dictionary(tables: Iterable[str] = TABLES) -> str:
    """Describe the tables and their columns in Markdown, for people with only the tables."""
    lines = ["# Tables", "", "Made from the trial files; `resolab report` makes them anew.", ""]
    lines += ["Instants in `_ns` are `CLOCK_MONOTONIC` unless the column says otherwise; null means: did not happen."]
    for table in tables:
        summary = _schema()[TABLES[table].__name__].get("description", "")
        lines += ["", f"## {table}", "", " ".join(summary.split()), "", "| column | type | meaning |", "|---|---|---|"]
        lines += [
            f"| `{column.name}` | {column.duckdb_type} | {column.description} |" for column in list_columns(table)
        ]
    return "\n".join(lines) + "\n"
