"""Questions only for measurements on the live network. Not for: questions for every dataset."""
