"""The lab: an emulated path with the edge behind it, and the programs in the client's host.

For: `Lab`, running during a campaign. Not for: the trials made in it (`trials`); order, repetition and files
(`campaign`).
"""
