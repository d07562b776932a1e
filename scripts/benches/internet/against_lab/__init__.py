"""Page loads of a box's sites by live mode against the same by the lab, on the same pages and distances.

For: `scripts/bench internet --live-against-lab`: whether both say the same of the same network, within 5 %. Not for:
look-ups beside their truth; that is `resolab internet check`.
"""
