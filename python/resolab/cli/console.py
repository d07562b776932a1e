"""The console every command prints on: rich's, but a reader who has gone is the command's to hear of.

For: `main`, which ends such a command with the code the help promises. Not for: what is printed.
"""

import rich.console


class Console(rich.console.Console):
    """Rich's own would end the process with 1, which means "outside a tolerance" here."""

    def on_broken_pipe(self) -> None:
        """Hand the error on; called where it is handled, with nothing else to raise."""
        raise  # noqa: PLE0704 -- rich calls this from its handler of the BrokenPipeError.
