"""The kinds of trial: each a folder with the run of its trials, their judgement and their flags.

For: `page_load`, `exchange`, `fetch` and `study`. Not for: the factors of a kind (`plan.kind`); order, repetition and
files (`campaign`).
"""
