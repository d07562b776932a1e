"""Pages with one look: the templates of all, and the pages of comparisons and waterfalls.

For: HTML, and the content of pages that are no report. Not for: the sections of a report (`sections`).
"""
