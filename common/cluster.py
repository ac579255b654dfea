# SPDX-License-Identifier: BSD-2-Clause
"""Clusters of Dask that whoever runs a command has started: a scheduler and its workers."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from roceproof.common.errors import RoceproofError

if TYPE_CHECKING:
    from distributed import Client

_ANSWER_SECONDS, _PATIENCE_SECONDS = 10.0, 60.0


@contextmanager
def cluster_client(cluster: str) -> Iterator[Client]:
    """A client of a scheduler, whose address or file this is."""
    try:
        from distributed import Client
    except ModuleNotFoundError:
        raise RoceproofError("clusters need Dask: pip install 'roceproof[cluster]'") from None
    named = {"scheduler_file": cluster} if cluster.endswith(".json") else {"address": cluster}
    try:
        client = Client(**named, timeout=_ANSWER_SECONDS)
    except (OSError, ValueError) as error:
        raise RoceproofError(
            f"{cluster}: no Dask scheduler answers ({error}): give the address or the file "
            "that `dask scheduler` tells"
        ) from None
    with client:
        yield client


def cluster_threads(client: Client, cluster: str) -> int:
    """How many its workers have; the first worker is waited for."""
    try:
        client.wait_for_workers(1, timeout=_PATIENCE_SECONDS)
        return sum(client.nthreads().values())
    except (TimeoutError, OSError):
        raise RoceproofError(
            f"{cluster}: no worker for a minute: start some with `dask worker`, and run it again"
        ) from None
