# SPDX-License-Identifier: BSD-2-Clause
"""Where tables and progress are printed, as wide as they are; NO_COLOR and pipes are honoured."""

from collections.abc import Iterable

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment

from roceproof.common.printable import printable_lines

PIPE_WIDTH = 1000  # a row stays one line for whatever reads it


class Terminal(Console):
    """Standard output, or standard error, which nothing foreign steers, whoever prints it.

    A reader that has gone is a BrokenPipeError.
    """

    def __init__(self, *, stderr: bool = False, quiet: bool = False) -> None:
        super().__init__(stderr=stderr, quiet=quiet, highlight=False, soft_wrap=True, emoji=False)
        if not self.is_terminal:
            self.width = PIPE_WIDTH

    def render(
        self, renderable: RenderableType, options: ConsoleOptions | None = None
    ) -> Iterable[Segment]:
        """The parts of what is printed, with every sign that would act spelled out."""
        for segment in super().render(renderable, options):
            text, style, control = segment
            yield segment if control else Segment(printable_lines(text), style)

    def on_broken_pipe(self) -> None:
        """Let the command decide: the default would end with the exit code of findings."""
        raise
