"""The parts of `scripts/bench dns`, one module for each.

For: measuring our DNS clients beside others', with the arithmetic in separate modules (`matching`, `flights`). Not for:
choosing and printing (`__main__`).
"""
