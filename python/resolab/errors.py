"""The one error tree; the command line turns each into one line and an exit code.

    ResolabError                 70  something in resolab itself
    ├── UsageError                2  the command line cannot mean anything
    ├── ConfigurationError        3  a plan, profile, page or folder given by the user is wrong
    ├── MachineError              4  the machine lacks a program, a permission or a device
    │   └── StorageError          4  what is measured cannot be written: no space, no permission, no disk
    ├── DeadlineError             5  something did not end in its time
    └── UnsupportedError        127  a combination that is not built

Not for: measured failures of queries and page loads; those are data.
"""


class ResolabError(Exception):
    """Something went wrong that ends the command; the message is one line with what to do."""

    exit_code = 70


class UsageError(ResolabError):
    """The command line cannot mean anything."""

    exit_code = 2


class ConfigurationError(ResolabError):
    """What the user gave is wrong."""

    exit_code = 3


class MachineError(ResolabError):
    """The machine lacks something."""

    exit_code = 4


class StorageError(MachineError):
    """What was measured cannot be written."""


class DeadlineError(ResolabError):
    """Something did not end in its time."""

    exit_code = 5


class UnsupportedError(ResolabError):
    """The combination asked for is not built."""

    exit_code = 127


def is_interruption(error: BaseException) -> bool:
    """Whether somebody asked for an end; DuckDB takes the signal in a query and raises this instead."""
    return isinstance(error, KeyboardInterrupt) or (
        isinstance(error, RuntimeError) and str(error) == "Query interrupted"
    )
