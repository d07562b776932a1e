"""Trials of the kind `study`: the work of our own client in a study's folder.

For: `StudyRunner`, and the shapes between a study and the runner. Not for: any study (the package `studies`), or path
and edge (`lab`).
"""
