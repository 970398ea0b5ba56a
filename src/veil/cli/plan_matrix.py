"""veil plan matrix: what a budget buys for a matrix, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from veil.cli import options
from veil.cli.matrices import rows_from, support_from
from veil.cli.output import check_ending, print_json, refuse_existing, working
from veil.core.checks import integer
from veil.core.errors import InvalidArgument


def matrix(
    epsilon: options.Epsilon,
    states: Annotated[
        int | None, typer.Option("--states", "-s", help="The number of states: rows of the matrix.")
    ] = None,
    columns: Annotated[
        int | None, typer.Option("--columns", "-c", help="Columns, if not as many: actions of a policy.")
    ] = None,
    delta: options.Delta = 1e-6,
    rows: options.RowsOption = "1",
    transfer: options.TransferInRow = None,
    l1: options.L1InRow = None,
    support: Annotated[
        str | None, typer.Option("--support", help="A public table of possible entries; instead of --states.")
    ] = None,
    typical: Annotated[
        str | None, typer.Option(help="A public matrix to plan for (CSV or JSON); else all kinds of rows.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw error against epsilon: .svg, .png or .pdf.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """What to expect of each mechanism for a matrix, without any data.

    Example: veil plan matrix --states 12 --rows 1 --l1 0.02 --epsilon 2 --delta 1e-6
    """
    import numpy as np

    from veil.matrices.job import plan_matrix

    check_ending("--plot", plot, (".svg", ".png", ".pdf"))
    refuse_existing({"--plot": plot}, force=force)
    adjacency = rows_from(rows, transfer, l1)
    public = None
    if typical is not None:
        from veil.matrices.reading import read_matrix
        from veil.matrices.stochastic import StochasticMatrix
        from veil.vectors.simplex import Simplex

        entries = read_matrix(typical).entries
        table = entries.toarray() if hasattr(entries, "toarray") else entries
        public = StochasticMatrix(Simplex(max(2, table.shape[-1]))).validate(table)
    if support == "zeros":
        if public is None:
            raise InvalidArgument("--support", expected="a table, or --typical with zeros", found="zeros")
        mask = public > 0.0
    elif support is not None:
        mask = support_from(support)
    elif public is not None:
        mask = np.ones(public.shape, dtype=bool)
    elif states is None:
        raise InvalidArgument(
            "--states", expected="--states N, --support FILE or --typical FILE", found="none"
        )
    else:
        count = integer("--states", states, least=1)
        mask = np.ones(
            (count, integer("--columns", max(2, count) if columns is None else columns, least=2)), dtype=bool
        )
    with working("Measuring every mechanism", quiet=as_json):
        table_of = plan_matrix(adjacency, mask, epsilon=epsilon, delta=delta, typical=public)
    if plot is not None:
        from veil.matrices.report.chain_figures import plan_figure
        from veil.vectors.planning import epsilons_around

        with working("Drawing", quiet=as_json):
            curve = [
                plan_matrix(adjacency, mask, epsilon=e, delta=delta, typical=public)
                for e in epsilons_around(epsilon)
            ]
            plan_figure(curve, epsilon).savefig(plot, dpi=150)
    if as_json:
        print_json(table_of.to_dict())
        return
    from veil.report.console import print_matrix_plan

    print_matrix_plan(table_of)
    if plot is not None:
        print(f"Drawn: {plot}")
