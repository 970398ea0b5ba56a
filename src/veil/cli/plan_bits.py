"""veil plan bits: what a budget buys for a table of bits, before any data is touched."""

from __future__ import annotations

from typing import Annotated

import typer

from veil.cli import options
from veil.cli.output import print_json
from veil.cli.release_bits import FlipsOption, UnitOption


def plan(
    columns: Annotated[int, typer.Option("--columns", "-c", min=1, help="How many bits a record has.")],
    epsilon: options.Epsilon,
    rows: Annotated[
        int | None, typer.Option("--rows", "-n", min=1, help="How many records there will be; public.")
    ] = None,
    unit: UnitOption = "row",
    flips: FlipsOption = None,
    as_json: options.JsonOption = False,
) -> None:
    """What to expect of a released table of bits, without any data.

    Example: veil plan bits --columns 16 --rows 435 --epsilon 2
    """
    from veil.bits.planning import plan_bits

    found = plan_bits(columns, epsilon, unit=unit, flips=flips, rows=rows)
    if as_json:
        print_json(found.to_dict())
        return
    from veil.bits.report.console import print_bit_plan

    print_bit_plan(found)
