"""One trial as evidence: everything kept by the lab about the trial, in a folder readable by other programs.

For: `resolab evidence`: packets with their keys for Wireshark, the browser's own log, HTTP Archive, waterfall, and a
trace of every part on one clock. Not for: measuring, or more than one trial at a time.
"""

from resolab.extras.evidence.folder import Evidence, EvidenceFile, lay_out

__all__ = ["Evidence", "EvidenceFile", "lay_out"]
