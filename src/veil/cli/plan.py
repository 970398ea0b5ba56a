"""veil plan KIND: what a budget buys, before any data is touched."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from veil.cli.options import command, extra_option
from veil.cli.output import print_json, working
from veil.cli.output_files import check_ending, refuse_existing
from veil.cli.release import FORCE, JSON
from veil.core.kind import Kind
from veil.core.plan import epsilons_around
from veil.core.request import Option, PlanRequest

_PLOT = Option("Also draw the error against epsilon: .svg, .png or .pdf.", group="Output")


def plan_command(kind: Kind) -> Callable[..., int] | None:
    """The command that plans for data of a kind; None if the kind has none."""
    plans = kind.plans
    if plans is None:
        return None

    def run(fields: dict[str, Any], **given: Any) -> int:
        return planned(kind, plans(**fields), **given)

    extra = [extra_option("as_json", bool, False, JSON)]
    if type(kind).plot_plans is not Kind.plot_plans:
        extra = [
            extra_option("plot", Path | None, None, _PLOT),
            extra_option("force", bool, False, FORCE),
            *extra,
        ]
    return command(run, (plans,), extra)


def planned(
    kind: Kind, request: PlanRequest, *, plot: Path | None = None, force: bool = False, as_json: bool = False
) -> int:
    """Make the plan, draw it if asked to, and print it. Returns the exit code."""
    check_ending("--plot", plot, (".svg", ".png", ".pdf"))
    refuse_existing({"--plot": plot}, force=force, inputs=request.inputs)
    request.check()
    if plot is not None:
        kind.check_plot(request)
    with working("Measuring every mechanism", quiet=as_json) as progress:
        plan = request.plan(progress)
    if plot is not None:
        with working("Drawing", quiet=as_json) as progress:
            curve = [request.at(epsilon).plan(progress) for epsilon in epsilons_around(plan.epsilon)]
            kind.plot_plans(curve, plan.epsilon).savefig(plot, dpi=150)
    if as_json:
        print_json(plan.to_dict())
        return 0
    kind.print_plan(plan, request=request)
    if plot is not None:
        print(f"Drawn: {plot}")
    return 0
