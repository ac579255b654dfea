# SPDX-License-Identifier: BSD-2-Clause
"""A plan as text that a person can read and change, in the notation of a case, and back.

    identity(mac="02:00:00:00:00:01", ip="10.0.0.1")
    play = Play(bench)
    play.connect(key=0, service="RC", path_mtu=256)
    play.post(key=0, op="WRITE", size=300)

Nothing of a text is executed: a step names a method of its player and says literals.
"""

import ast
from collections.abc import Sequence
from inspect import signature
from typing import Any

from roceproof.common.errors import RoceproofError
from roceproof.conformance.stimulus.plan import Plan, Player, Step
from roceproof.conformance.stimulus.requester.play import Play
from roceproof.conformance.stimulus.responder.play import Asking

PLAYERS: dict[str, type[Player]] = {each.__name__: each for each in (Play, Asking)}
_PLAYER = f"play = {' or '.join(PLAYERS)}(bench)"
_ENDS = "finish"


class PlanTextError(RoceproofError):
    """A text is no plan; the message names the place, the reason and the mend in one line."""


def text_of(plan: Plan) -> str:
    """The text that `plan_of` reads as this plan."""
    said = [f'identity(mac="{plan.mac}", ip="{plan.ip}")'] if plan.host is not None else []
    steps = [str(step).replace("'", '"') for step in plan.steps]
    return "\n".join([*said, f"play = {plan.player.__name__}(bench)", *steps, ""])


def plan_of(text: str, *, name: str) -> Plan:
    """The plan that a text says; `name` is what its errors call it."""
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", None) or 1
        raise PlanTextError(f"{name}:{line}: no plan: mend the notation of this line") from None
    return _Reader(name).plan(statements)


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name

    def plan(self, statements: Sequence[ast.stmt]) -> Plan:
        rest, identity = list(statements), dict[str, Any]()
        if rest and isinstance(rest[0], ast.Expr):
            identity = self._identity(rest.pop(0))
        if not rest:
            raise PlanTextError(
                f"{self._name}:1: no plan: say play = {' or '.join(PLAYERS)}(bench)"
            )
        player = self._player(rest.pop(0))
        plan = Plan(
            steps=tuple(self._step(each, player) for each in rest), player=player, **identity
        )
        try:
            _ = plan.host
        except ValueError:
            raise self._error(statements[0], "no MAC or IP address: correct it") from None
        return plan

    def _identity(self, statement: ast.stmt) -> dict[str, Any]:
        match statement:
            case ast.Expr(ast.Call(func=ast.Name(id="identity")) as call):
                said = self._said(statement, call)
                if said.keys() == {"mac", "ip"} and all(type(v) is str for v in said.values()):
                    return said
        raise self._error(statement, 'expected identity(mac="...", ip="...") or a player')

    def _player(self, statement: ast.stmt) -> type[Player]:
        match statement:
            case ast.Assign(
                targets=[ast.Name(id="play")],
                value=ast.Call(func=ast.Name(id=name), args=[ast.Name(id="bench")], keywords=[]),
            ) if name in PLAYERS:
                return PLAYERS[name]
        raise self._error(statement, f"expected {_PLAYER}")

    def _step(self, statement: ast.stmt, player: type[Player]) -> Step:
        match statement:
            case ast.Expr(
                ast.Call(func=ast.Attribute(value=ast.Name(id="play"), attr=name)) as call
            ) if name in _steps_of(player):
                step = Step(name, self._said(statement, call))
                try:
                    signature(getattr(player, name)).bind(None, **step.fields)
                except TypeError as error:
                    raise self._error(statement, f"{name}: {error}; correct its fields") from None
                return step
        raise self._error(statement, f"no step of {player.__name__}: remove or correct it")

    def _said(self, statement: ast.stmt, call: ast.Call) -> dict[str, Any]:
        if call.args or any(each.arg is None for each in call.keywords):
            raise self._error(statement, "say every field by its name")
        try:
            return {str(each.arg): ast.literal_eval(each.value) for each in call.keywords}
        except (ValueError, TypeError, MemoryError, RecursionError):
            raise self._error(statement, "a field may only be a literal") from None

    def _error(self, statement: ast.stmt, reason: str) -> PlanTextError:
        return PlanTextError(f"{self._name}:{statement.lineno}: {reason}")


def _steps_of(player: type[Player]) -> set[str]:
    names = {name for name in dir(player) if callable(getattr(player, name))}
    return {name for name in names if not name.startswith("_")} - {_ENDS}
