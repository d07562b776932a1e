"""How faithfully a browser repeats a page with its clone: what it asked for, because of what, in which order."""
