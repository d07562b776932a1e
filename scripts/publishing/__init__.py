"""Parts of `scripts/publish`: a dataset as a small folder that every command reads."""
