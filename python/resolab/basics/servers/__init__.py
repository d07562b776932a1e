"""Servers of other makers: finding their programs, certificates for them, and templates of their configurations.

For: the parts shared by the local internet and the lab. Not for: starting servers (`internet`, `lab.software`).
"""
