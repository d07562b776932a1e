"""Parts of `scripts/quote`: prose with numbers from published datasets."""
