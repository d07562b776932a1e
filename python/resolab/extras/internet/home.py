"""Run a command at home in the box: start, wait for its end, return the exit code.

For: `resolab internet run`. Not for: the meaning of the command; the command cannot tell the box from the real
internet.
"""

import asyncio
import os
import pwd
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from resolab.basics.errors import MachineError, UsageError
from resolab.extras.internet.box import Box
from resolab.extras.internet.layout import HOME

USERS_OWN = ("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR")
"""The variables for folders of the box's user, not writable by another user."""


async def run_at_home(box: Box, command: Sequence[str], *, as_user: str | None = None) -> int:
    """Run a command with our standard streams, wait for its end and return the exit code.

    Like a shell, return 128 plus the signal when the command was killed.
    """
    prefix, environment = [*box.prefix(HOME)], box.environment()
    if as_user is not None:
        user = account(as_user)
        prefix += ["setpriv", f"--reuid={user.pw_uid}", f"--regid={user.pw_gid}", "--init-groups", "--"]
        environment = adapt_environment(environment, user)
        os.chown(box.state_folder, user.pw_uid, user.pw_gid)
    try:
        process = await asyncio.create_subprocess_exec(*prefix, *command, env=environment)
    except OSError as error:
        raise MachineError(f"could not start {command[0]}: {error.strerror}") from error
    with _signals_passed_on(process):
        code = await process.wait()
    return code if code >= 0 else 128 - code


def account(name: str) -> pwd.struct_passwd:
    """Find a user account by name."""
    try:
        return pwd.getpwnam(name)
    except KeyError:
        raise UsageError(f"there is no user {name!r}; --as-user takes one of this machine") from None


def adapt_environment(environment: Mapping[str, str], user: pwd.struct_passwd) -> dict[str, str]:
    """Return an environment changed for another user."""
    kept = {name: value for name, value in environment.items() if name not in USERS_OWN}
    return kept | {"HOME": user.pw_dir, "USER": user.pw_name, "LOGNAME": user.pw_name}


@contextmanager
def _signals_passed_on(process: asyncio.subprocess.Process) -> Iterator[None]:
    """Let the command end by itself: a terminal's Ctrl-C reaches the command anyway, SIGTERM is passed on."""
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGINT, lambda: None)
    loop.add_signal_handler(signal.SIGTERM, process.terminate)
    try:
        yield
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        loop.remove_signal_handler(signal.SIGTERM)
