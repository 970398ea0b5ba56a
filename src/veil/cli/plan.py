"""veil plan: what a budget buys, before any data is touched."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from veil.cli import options, plan_bits, plan_chain, plan_graph, plan_matrix, plan_words
from veil.cli.output import check_ending, print_json, refuse_existing, working
from veil.core.checks import integer, within
from veil.core.errors import CannotCalibrate, InvalidArgument

app = typer.Typer(help="What a budget buys, before any data is touched.", no_args_is_help=True)


@app.callback()
def group() -> None:
    """What a budget buys, before any data is touched."""


@app.command("vector")
def vector(
    size: Annotated[int, typer.Option("--size", "-s", help="The number of entries.")],
    epsilon: Annotated[float | None, typer.Option("--epsilon", "-e", help="Privacy loss.")] = None,
    delta: options.Delta = 1e-6,
    records: options.RecordsOption = None,
    counts: options.CountsOption = False,
    transfer: options.TransferOption = None,
    l1: options.L1Option = None,
    change: options.ChangeOption = None,
    error: Annotated[
        float | None, typer.Option("--error", help="The other way round: the epsilon for this error.")
    ] = None,
    metric: Annotated[str, typer.Option(help="The error's measure: tv, l1, sup or kl.")] = "tv",
    confidence: Annotated[float, typer.Option(help="How surely the error must be met.")] = 0.95,
    typical: Annotated[
        str | None, typer.Option(help="A public vector to plan for (CSV or JSON); else all kinds of vectors.")
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="Also draw error against epsilon: .svg, .png or .pdf.")
    ] = None,
    force: options.ForceOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """What to expect of each mechanism for a vector, without any data.

    Example: veil plan vector --size 5 --records 98 --epsilon 1 --delta 1e-6

    With --error the question is turned round: veil plan vector --size 5 --records 98 --error 0.05
    """
    from veil.vectors.job import Secret

    if (epsilon is None) == (error is None):
        raise InvalidArgument("--epsilon", expected="either --epsilon or --error", found="both or neither")
    if error is not None and plot is not None:
        raise InvalidArgument("--plot", expected="--epsilon with it", found="--error")
    check_ending("--plot", plot, (".svg", ".png", ".pdf"))
    refuse_existing({"--plot": plot}, force=force)
    size = integer("--size", size, least=2)
    within("--confidence", confidence, 0.5, 0.9999, expected="a number between 0.5 and 0.9999")
    adjacency = Secret(records=records, counts=counts, transfer=transfer, l1=l1, change=change).adjacency
    public = None
    if typical is not None:
        from veil.vectors.reading import read_vector

        public = list(read_vector(typical).values)
    shape: dict[str, Any] = {"size": size, "delta": delta, "records": records, "typical": public}
    if error is not None:
        _inverse(adjacency, shape, error, metric, confidence, as_json=as_json)
        return
    assert epsilon is not None
    _forward(adjacency, shape, epsilon, plot, as_json=as_json)


app.command("matrix")(plan_matrix.matrix)
app.command("chain")(plan_chain.chain)
app.command("words")(plan_words.plan)
app.command("bits")(plan_bits.plan)
app.command("graph")(plan_graph.plan)


def _forward(
    adjacency: Any, shape: dict[str, Any], epsilon: float, plot: Path | None, *, as_json: bool
) -> None:
    from veil.vectors.comparison import compare

    with working("Measuring every mechanism", quiet=as_json):
        table = compare(None, adjacency, epsilon=epsilon, **shape)
    if plot is not None:
        from veil.report.figures import curve_figure
        from veil.vectors.planning import epsilons_around, error_curve

        with working("Drawing", quiet=as_json):
            curve = error_curve(adjacency, epsilons=epsilons_around(epsilon), **shape)
            curve_figure(curve, epsilon).savefig(plot, dpi=150)
    if as_json:
        print_json(table.to_dict())
        return
    from veil.report.console import print_comparison

    print_comparison(table, size=shape["size"], records=shape["records"])
    if plot is not None:
        print(f"Drawn: {plot}")


def _inverse(
    adjacency: Any, shape: dict[str, Any], error: float, metric: str, confidence: float, *, as_json: bool
) -> None:
    from veil.vectors.calibration import names_for
    from veil.vectors.planning import least_epsilon

    found: dict[str, float | None] = {}
    for name in names_for(adjacency):
        with working(f"Searching the epsilon of {name}", quiet=as_json):
            try:
                found[name] = least_epsilon(
                    name, adjacency, error=error, metric=metric, confidence=confidence, **shape
                )
            except CannotCalibrate:
                found[name] = None
    if as_json:
        content = {"error": error, "metric": metric, "confidence": confidence, "delta": shape["delta"]}
        print_json(content | {"epsilon": found})
        return
    print(
        f"The epsilon at which the {metric} error stays below {error:g} in {100 * confidence:g} of 100 "
        "releases:"
    )
    for name, value in sorted(found.items(), key=lambda item: item[1] or float("inf")):
        print(f"  {name:18} {'not reachable' if value is None else f'{value:.3g}'}")
