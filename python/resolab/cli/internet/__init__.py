"""The command `resolab internet`: the internet in a box. Not for: the box itself (`resolab.extras.internet`)."""
