"""The parts of `scripts/bench dns`, one module for each.

For: measuring our DNS clients beside others', with the arithmetic in modules of its own (`matching`, `flights`).
Not for: choosing and printing (`__main__`).
"""
