"""What the client's side tells of loads, held against what the edge saw. Not for: how (`resolab.live.judged`)."""
