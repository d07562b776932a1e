"""The parts of `scripts/bench dns`, one module for each, and what they share.

For: measuring our DNS clients beside others', with the arithmetic in modules of its own (`matching`, `flights`,
`ratios`). Not for: choosing and printing (`bench_dns.py`).
"""
