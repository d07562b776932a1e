"""The one error tree; the command line turns each error into one line and an exit code.

    ResolabError                 70  something in resolab itself.
    ├── UsageError                2  the command line has no meaning.
    ├── ConfigurationError        3  a plan, profile, page or folder given by the user is wrong.
    ├── MachineError              4  the machine lacks a program, a permission or a device.
    │   └── StorageError          4  measurements cannot be written: no space, no permission, no disk.
    ├── DeadlineError             5  an operation did not end before its deadline.
    └── UnsupportedError        127  the combination is not built.

Not for: measured failures of queries and page loads; these failures are data.
"""


class ResolabError(Exception):
    """An error ending the command; the message is one line with the remedy."""

    exit_code = 70


class UsageError(ResolabError):
    """The command line cannot mean anything."""

    exit_code = 2


class ConfigurationError(ResolabError):
    """The user's input is wrong: a plan, profile, page or folder."""

    exit_code = 3


class MachineError(ResolabError):
    """The machine lacks something."""

    exit_code = 4


class StorageError(MachineError):
    """Measurements cannot be written: no space, no permission, no disk."""


class DeadlineError(ResolabError):
    """An operation did not end before its deadline."""

    exit_code = 5


class UnsupportedError(ResolabError):
    """The combination asked for is not built."""

    exit_code = 127


def is_interruption(error: BaseException) -> bool:
    """Return True when the user asked for an end. On SIGINT in a query, DuckDB raises the RuntimeError instead."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    )
