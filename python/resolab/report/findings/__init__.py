"""What a dataset says: every estimate, comparison and count of the report, made before anything is printed or drawn.

For: datasets in, `Findings` out. Not for: words, tables and figures, which the rest of the report makes of them.
"""
