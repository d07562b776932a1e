"""The benchmarks' own arithmetic lies under scripts/, which is no package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[3] / "scripts"))
