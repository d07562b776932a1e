"""Parts of `scripts/quote`: prose that takes its numbers from published datasets."""
