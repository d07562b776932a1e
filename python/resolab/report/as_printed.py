"""Which profile of a paper one of ours is: its own, or one that follows the paper's set-up more closely.

For: finding printed numbers by profile. Not for: the numbers (`h20.printed`, `s24.printed`).
"""

AS_PUBLISHED = "-as-published"
"""Ends the name of a profile that has a paper's queue, loss and policer instead of ours."""


def printed_profile(profile: str) -> str:
    """Name the profile whose printed numbers stand for this one."""
    return profile.removesuffix(AS_PUBLISHED)
