"""The command line's own cost: what `--help` and every start must not wait for."""

import subprocess
import sys


def test_arguments_are_read_without_the_rooms_behind_them() -> None:
    program = (
        "import sys\n"
        "from resolab.cli.main import _parsers\n"
        "_parsers()[0].parse_args(['har', 'x'])\n"
        "print(sorted({one.partition('.')[0] for one in sys.modules} & {'rich', 'numpy', 'duckdb', 'msgspec', 'scipy'}))"
    )
    ran = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=60)
    assert ran.stdout.strip() == "[]"


def test_every_command_has_its_help() -> None:
    ran = subprocess.run([sys.executable, "-m", "resolab", "--help"], check=True, capture_output=True, text=True)
    names = [
        line.split()[0] for line in ran.stdout.splitlines() if line.startswith("    ") and not line.startswith("     ")
    ]
    wanted = "run resume report compare export merge har waterfall plan calibrate query doctor"
    assert names == wanted.split()
