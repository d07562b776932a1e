"""The study of announced names: names of a document known before the document (docs/method/announced-names.md).

For: the wait for names, by kind of announcement. Not for: page loads in browsers.
"""
