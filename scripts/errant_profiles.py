#!/usr/bin/env python3
"""Write the mobile profiles of the ERRANT data set: `scripts/errant_profiles.py profiles.csv profiles/`.

For: making profiles/errant-*.toml again from the authors' table of averages; the profiles are part of the project, the
table is not. Not for: use at run time. docs/formats/profile.md describes the conversion of columns to keys.
"""

import argparse
import csv
import math
from dataclasses import dataclass
from pathlib import Path

SOURCE = (
    "M. Trevisan, A. Safari Khatouni, D. Giordano: ERRANT: Realistic emulation of radio access networks, "
    "Computer Networks 176, 2020; averages of the data set's speed tests"
)


@dataclass(frozen=True)
class Network:
    """A row: speed tests of one operator, country, technology and signal quality."""

    name: str
    down_bps: int
    up_bps: int
    round_trip_ms: float
    round_trip_deviation_ms: float


def read_networks(table: Path) -> list[Network]:
    """Read the table; a missing column is an error."""
    with table.open(newline="") as file:
        return [
            Network(
                name="-".join(["errant", row["operator"], row["country"], row["rat"], row["signal_quality"]]).lower(),
                down_bps=round(float(row["download_kbps"]) * 1_000),
                up_bps=round(float(row["upload_kbps"]) * 1_000),
                round_trip_ms=float(row["latency_ms_avg"]),
                round_trip_deviation_ms=float(row["latency_ms_stdev"]),
            )
            for row in csv.DictReader(file)
        ]


def profile_text(network: Network) -> str:
    """Render a profile file."""
    deviation_ms = network.round_trip_deviation_ms / math.sqrt(2)
    way = (
        f"one_way_delay_ms = {network.round_trip_ms / 2:.6f}\n"
        f'jitter = {{ standard_deviation_ms = {deviation_ms:.6f}, distribution = "lognormal" }}\n'
    )
    return (
        f"# Round trip {network.round_trip_ms:.3f} ms, standard deviation {network.round_trip_deviation_ms:.3f} ms;\n"
        f"# {network.down_bps:_} bit/s down, {network.up_bps:_} bit/s up. Written by scripts/errant_profiles.py.\n"
        f'name = "{network.name}"\n'
        f'source = "{SOURCE}"\n'
        f"\n[up]\n{way}rate_bps = {network.up_bps:_}\n"
        f"\n[down]\n{way}rate_bps = {network.down_bps:_}\n"
    )


def main() -> None:
    """Write one file per row."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("table", type=Path, metavar="TABLE.csv", help="the authors' table of averages")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="where the profiles are written")
    options = parser.parse_args()
    for network in read_networks(options.table):
        (options.folder / f"{network.name}.toml").write_text(profile_text(network))


if __name__ == "__main__":
    main()
