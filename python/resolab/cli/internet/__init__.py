"""`resolab internet`: the internet in a box from a command line. Not for: what is in it (`resolab.internet`)."""
