# SPDX-License-Identifier: BSD-2-Clause
"""How a session ends before its last case, with or without workers."""

import errno

import pytest

NO_ROOM = "no_room"
"""The property of a case that could not leave what it has found, with the place and the reason."""
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO, errno.EROFS)


def end_session(session: pytest.Session, reason: str) -> None:
    """End it behind the case that is running; workers are interrupted in theirs."""
    session.shouldstop = reason
    if session.config.pluginmanager.hasplugin("dsession"):
        pytest.exit(reason)


def no_room(error: BaseException) -> str:
    """Why a file could not be written, with its name; nothing if something else is wrong."""
    if not isinstance(error, OSError) or error.errno not in _FULL:
        return ""
    place = error.filename or "the folder of the results"
    return f"{place}: {error.strerror}; make room"
