"""The options that every command has, before or after its name."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    _NumberType = click.ParamType[float]
else:
    _NumberType = click.ParamType  # before click 8.5 it takes no type argument

DAY = 86400.0
"""Seconds; a longer time limit is as good as none."""

_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(slots=True)
class Settings:
    """What the common options were set to."""

    socket: str | None = None
    timeout: float | None = None
    json: bool = False


class OrderedGroup(click.Group):
    """A group whose commands stand in the order in which they were defined."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands."""
        return list(self.commands)


class Number(_NumberType):
    """A number between two limits. Unlike click's, its limits are said in words only."""

    def __init__(self, least: float, most: float, *, whole: bool = True) -> None:
        self.name = "number"
        self._least, self._most, self._whole = least, most, whole

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        """Return *value* as a number within the limits."""
        try:
            number = int(value) if self._whole else float(value)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is not a {'whole ' if self._whole else ''}number.", param, ctx)
        if not self._least <= number <= self._most:
            self.fail(f"{value} is not within {self._least:,} to {self._most:,}.", param, ctx)
        return number


def settings(context: click.Context | None = None) -> Settings:
    """Return the settings of the running command."""
    return (context or click.get_current_context()).ensure_object(Settings)


def _remember(context: click.Context, option: click.Parameter, value: Any) -> None:
    # An option that was not given here must not undo the one given before the command's name.
    if value is not None and value is not False and option.name is not None:
        setattr(settings(context), option.name, value)


def common(command: _F) -> _F:
    """Give *command* the common options; their values are in `settings`."""
    options = (
        click.option(
            "--json",
            is_flag=True,
            expose_value=False,
            callback=_remember,
            help="Print JSON, one object a line; errors too, on standard error.",
        ),
        click.option(
            "--timeout",
            type=Number(0.001, DAY, whole=False),
            metavar="SECONDS",
            expose_value=False,
            callback=_remember,
            help="Give up after this time.",
        ),
        click.option(
            "--socket",
            type=click.Path(),
            metavar="PATH",
            expose_value=False,
            callback=_remember,
            help="The daemon's socket, if it is not in the usual place.",
        ),
    )
    for option in options:
        command = option(command)
    return command
