"""`resolab page`: pages of one's own, and models of real ones."""
