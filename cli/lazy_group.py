# SPDX-License-Identifier: BSD-2-Clause
"""A group whose commands are imported when they are called, completed or listed."""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import Any

import click


class LazyGroup(click.Group):
    """Knows where each command is; `places` has `module:attribute` by the command's name."""

    def __init__(self, *, places: Mapping[str, str], **settings: Any) -> None:
        super().__init__(**settings)
        self.places = places

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name them all, in the order of the alphabet."""
        return sorted(self.places)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import the one that is asked for."""
        if cmd_name not in self.places:
            return None
        module, _, attribute = self.places[cmd_name].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command
