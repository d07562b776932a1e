"""Write the prose about the published datasets from its template, or check its agreement with the datasets.

For: `scripts/quote`, run by `scripts/check`. Not for: the numbers (`published`) or their format (`words`). Exit code 1
when a text differs from the result of template and tables.
"""

import argparse
import sys
from pathlib import Path

import jinja2

from quotes.prose import claims, counts_without_holm, literal_numbers, render, unparted_causes

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
TEMPLATE, TEXT = RESULTS / "README.md.j2", RESULTS / "README.md"
SECTIONS = RESULTS / "sections"
CLAIMS, CLAIMED = RESULTS / "claims.j2", ROOT / "README.md"


def main() -> int:
    """Write or check the texts."""
    parser = argparse.ArgumentParser(prog="scripts/quote", description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail where a text is another")
    options = parser.parse_args()
    try:
        text = render(TEMPLATE, RESULTS)
        wanted = claims(CLAIMS, RESULTS)
    except (jinja2.TemplateError, LookupError, ValueError) as error:
        print(f"quote: {error}; correct the template or publish the dataset it quotes", file=sys.stderr)
        return 1
    sources = (TEMPLATE, *sorted(SECTIONS.glob("*.j2")))
    problems = [
        f"{file.name}: {one}"
        for file in sources
        for check in (literal_numbers, unparted_causes)
        for one in check(file.read_text("utf-8"))
    ]
    problems += [f"docs/results/{TEXT.name}: {one}" for one in counts_without_holm(text)]
    said = " ".join(CLAIMED.read_text("utf-8").split())
    problems += [f"README.md does not say: {one}" for one in wanted if one not in said]
    if options.check and text != TEXT.read_text("utf-8"):
        problems.append(f"docs/results/{TEXT.name} is not what its template says; run scripts/quote")
    if not options.check:
        TEXT.write_text(text, "utf-8")
    for problem in problems:
        print(f"quote: {problem}", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
