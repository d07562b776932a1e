"""Page loads by resolab and by browsertime through one path, for `scripts/bench peers`; not part of the package."""
