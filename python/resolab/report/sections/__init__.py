"""The sections of the report's page, each in a file of its own, from what they share: a dataset's reading.

For: choosing and building sections. Not for: findings (`findings`), or the page around the sections (`build`).
"""
