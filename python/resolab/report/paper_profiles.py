"""The mapping of resolab's profiles to a paper's profiles, including variants closer to the paper's set-up.

For: finding printed numbers by profile. Not for: the numbers (`h20.printed`, `s24.printed`).
"""

AS_PUBLISHED = "-as-published"
"""The suffix of profiles with a paper's queue, loss and policer instead of resolab's."""


def printed_profile(profile: str) -> str:
    """Return the profile with the printed numbers for this profile."""
    return profile.removesuffix(AS_PUBLISHED)
