"""The mapping of resolab's profiles to a paper's profiles, including variants closer to the paper's set-up.

For: finding printed numbers by profile. Not for: the numbers (`h20.paper_numbers`, `s24.paper_numbers`).
"""

AS_PUBLISHED = "-as-published"
"""The suffix of profiles with a paper's queue, loss and policer instead of resolab's."""


def find_paper_profile(profile: str) -> str:
    """Return the profile with the printed numbers for this profile."""
    return profile.removesuffix(AS_PUBLISHED)
