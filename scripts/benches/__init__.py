"""The benchmarks behind `scripts/bench`: a folder for each, with its command line in `__main__`, and what they share.

For: measuring what this project's programs cost and how true they are. Not for: studies (those are plans), nor tests.
"""
