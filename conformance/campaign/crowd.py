# SPDX-License-Identifier: BSD-2-Clause
"""Who plays the parts of a campaign: processes of this machine, or the workers of a Dask cluster.

Either gives back what came of each part exactly once. What a worker finds is in the folder before
that, so nothing is lost with it; a part whose worker was lost is played again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.pool import Pool
from typing import TYPE_CHECKING, Protocol

from roceproof.common.cluster import cluster_client, cluster_threads
from roceproof.conformance.campaign.apart import play_apart
from roceproof.conformance.campaign.worker import Came, Part, play
from roceproof.conformance.regression.soak_workers import come, soak_workers

if TYPE_CHECKING:
    from distributed import Client, Future

_LOOK_SECONDS = 1.0
_TRIES = 3
"""Dask itself gives a part to some workers more, each time."""


class Crowd(Protocol):
    @property
    def size(self) -> int:
        """How many parts are played at once."""

    def play(self, parts: Sequence[Part]) -> Iterator[Came]:
        """What comes of them, in any order."""


@contextmanager
def crowd(jobs: int, cluster: str | None, *, look: Callable[[], None]) -> Iterator[Crowd]:
    """So many processes, or those of a cluster: a scheduler's address or its file.

    `look` is called again and again while parts are played, and may end it by raising.
    """
    if cluster is None:
        with soak_workers(jobs) as pool:
            yield _Processes(pool, jobs, look)
        return
    with cluster_client(cluster) as client:
        yield _Cluster(client, cluster, look)


class _Processes:
    def __init__(self, pool: Pool, jobs: int, look: Callable[[], None]) -> None:
        self._pool, self._look = pool, look
        self.size = jobs

    def play(self, parts: Sequence[Part]) -> Iterator[Came]:
        yield from come(self._pool.imap_unordered(play, parts), look=self._look)


class _Cluster:
    def __init__(self, client: Client, name: str, look: Callable[[], None]) -> None:
        self._client, self._name, self._look = client, name, look

    @property
    def size(self) -> int:
        """One for each thread of its workers; the first worker is waited for."""
        return cluster_threads(self._client, self._name)

    def play(self, parts: Sequence[Part]) -> Iterator[Came]:
        from distributed import wait

        left = {self._submit(part): (part, _TRIES) for part in parts}
        while left:
            self._look()
            try:
                done = wait([*left], timeout=_LOOK_SECONDS, return_when="FIRST_COMPLETED").done
            except TimeoutError:
                _ = self.size  # which raises if nobody is left who plays them
                continue
            for future in done:
                part, tries = left.pop(future)
                if (came := self._came(future, part, tries)) is None:
                    left[self._submit(part)] = part, tries - 1
                else:
                    yield came

    def _submit(self, part: Part) -> Future[Came]:
        return self._client.submit(play_apart, part, pure=False)

    @staticmethod
    def _came(future: Future[Came], part: Part, tries: int) -> Came | None:
        """None if it has to be played again."""
        from distributed import KilledWorker

        if future.cancelled():
            return None
        error = future.exception()
        if isinstance(error, KilledWorker):
            if tries > 1:
                return None
            last = part.first + part.count - 1
            return Came(broke=[f"seeds {part.first} to {last}: every worker died that played them"])
        if error is not None:
            raise error
        came: Came = future.result()
        return came
