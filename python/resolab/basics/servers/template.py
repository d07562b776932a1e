"""Fill in the words between at signs of a configuration. Pure.

For: templates in any syntax: braces and percent signs belong to the configurations. Not for: the values.
"""

import re
from collections.abc import Mapping

PLACEHOLDER = re.compile(r"@([A-Z]+)@")
"""A word between at signs."""


def fill_template(text: str, values: Mapping[str, str]) -> str:
    """Replace the known words between at signs by their values."""
    return PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)
