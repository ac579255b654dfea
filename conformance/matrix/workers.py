# SPDX-License-Identifier: BSD-2-Clause
"""Processes that run cases side by side, and end with the one that has begun them."""

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process

from roceproof.conformance.runner.session.inner_session import run_inside


def run_session(arguments: Sequence[str], *plugins: object) -> None:
    """Run pytest here; an interruption ends a worker, or goes on."""
    try:
        run_inside(arguments, *plugins)
    except KeyboardInterrupt:
        if parent_process() is not None:
            os._exit(os.EX_TEMPFAIL)  # or the pool would have it begin the next
        raise


@contextmanager
def workers(jobs: int) -> Iterator[ProcessPoolExecutor]:
    """So many; where the block ends otherwise than by itself, what they are at is interrupted."""
    with ProcessPoolExecutor(jobs, mp_context=get_context("fork")) as pool:
        try:
            yield pool
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            children = active_children()
            for child in children:
                child.terminate()
            for child in children:
                child.join()
            raise
