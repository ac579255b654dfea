# SPDX-License-Identifier: BSD-2-Clause
"""A group whose commands are imported when they are called, completed or listed.

Each is where its name says: `demo-tap` is the function `demo_tap` of the module `demo`.
"""

from __future__ import annotations

from collections.abc import Collection
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    def __init__(self, *, names: Collection[str], **settings: Any) -> None:
        super().__init__(**settings)
        self.names = names

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name them all, in the order of the alphabet."""
        return sorted(self.names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that is asked for."""
        if cmd_name not in self.names:
            return None
        module = import_module(f"roceproof.cli.{cmd_name.partition('-')[0]}")
        command = getattr(module, cmd_name.replace("-", "_"))
        assert isinstance(command, click.Command)
        return command
