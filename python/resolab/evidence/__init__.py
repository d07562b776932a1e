"""One trial as evidence: all that the lab kept of it, in a folder that other programs open.

For: `resolab evidence`: packets with their keys for Wireshark, the browser's own log, HTTP Archive, waterfall, and a
trace of every part on one clock. Not for: measuring anything, or more than one trial at a time.
"""

from resolab.evidence.folder import Evidence, Piece, lay_out

__all__ = ["Evidence", "Piece", "lay_out"]
