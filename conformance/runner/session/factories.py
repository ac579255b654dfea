# SPDX-License-Identifier: BSD-2-Clause
"""Where a session's devices come from, one factory per data width, opened when first asked for.

What the user can mend, such as a manifest, ends the session with one line.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from roceproof.common.errors import RoceproofError
from roceproof.conformance.runner.attribution.control import Controls
from roceproof.conformance.runner.session.options import Options, open_factory, widths_of
from roceproof.conformance.targets.interface import DeviceFactory

OPTIONS = pytest.StashKey[Options]()
_CONTROLS = pytest.StashKey[dict[int | None, Controls]]()
FACTORIES = pytest.StashKey[dict[int | None, DeviceFactory]]()


def widths_asked(options: Options) -> tuple[int | None, ...]:
    """The data widths to test at."""
    with _told_to_the_user():
        return widths_of(options)


def factory_of(config: pytest.Config, width: int | None) -> DeviceFactory:
    factories = config.stash.setdefault(FACTORIES, {})
    if width not in factories:
        with _told_to_the_user():
            factories[width] = open_factory(config.stash[OPTIONS], width)
    return factories[width]


def controls_of(config: pytest.Config, width: int | None) -> Controls:
    controls = config.stash.setdefault(_CONTROLS, {})
    if width not in controls:
        controls[width] = Controls(factory_of(config, width))
    return controls[width]


def prepare_factories(config: pytest.Config) -> None:
    """Build and boot what all devices need."""
    options = config.stash[OPTIONS]
    reporter = config.pluginmanager.getplugin("terminalreporter")
    for width in widths_asked(options):
        with _told_to_the_user():
            factory_of(config, width).prepare(
                reporter.write_line if reporter else lambda text: None, waves=options.waves
            )


def close_factories(config: pytest.Config) -> None:
    for factory in config.stash.get(FACTORIES, {}).values():
        factory.close()


@contextmanager
def _told_to_the_user() -> Iterator[None]:
    try:
        yield
    except RoceproofError as error:
        raise pytest.UsageError(str(error)) from error
