"""The basics that every other room uses: records, protocols, errors, wording and where files are installed.

For: what has no other home and knows no other room. Not for: plans, datasets or measurements.
"""
