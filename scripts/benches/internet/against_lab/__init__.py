"""Page loads of a box's sites by live mode and by the lab, on the same pages and distances.

For: `scripts/bench internet --live-against-lab`: a test for agreement on the same network within 5 %. Not for: look-ups
against their truth (`resolab internet check`).
"""
