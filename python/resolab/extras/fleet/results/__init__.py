"""The results of a run: a block as a bundle, the check against the order, fetching, and one dataset of all blocks."""
