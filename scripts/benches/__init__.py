"""The benchmarks behind `scripts/bench`: a folder for each, with its command line in `__main__`, and shared code.

For: measuring cost and accuracy of this project's programs. Not for: studies (see plans), nor tests.
"""
