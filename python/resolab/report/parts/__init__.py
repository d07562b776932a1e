"""The parts of sections and pages: tables, sentences, captions and figures of findings.

For: rounding and words, the same for page and terminal. Not for: estimates (`findings`), or their order in a page
(`sections`).
"""
