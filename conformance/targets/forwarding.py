# SPDX-License-Identifier: BSD-2-Clause
"""A target that hands everything on to another: what stands before a device starts from it."""

from operator import attrgetter

from roceproof.conformance.targets.interface import Target


class ForwardingTarget(Target):
    """Every attribute and method is the inner target's, but for those that go by others."""

    more = Target.more
    """By `receive`, which one that stands before a device may have changed."""

    def __init__(self, inner: Target) -> None:
        self._inner = inner


for _name in {*Target.__annotations__, *vars(Target)} - {*vars(ForwardingTarget)}:
    if not _name.startswith("_"):
        setattr(ForwardingTarget, _name, property(attrgetter(f"_inner.{_name}")))
ForwardingTarget.__abstractmethods__ = frozenset()  # which mypy cannot know
