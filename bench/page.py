"""The page of a run, a file that needs nothing else."""

from __future__ import annotations

from pathlib import Path

from bench.pictures import bars, law, plots, times
from bench.results import Results

_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def value(number: float, unit: str) -> str:
    """A number as people read it; seconds in a unit that suits them."""
    if not unit.startswith("seconds"):
        return f"{number:.3g}"
    if number >= 100.0:
        return f"{number:,.0f} s"
    scale, name = next(((scale, name) for scale, name in _UNITS if number >= scale), _UNITS[-1])
    return f"{number / scale:.3g} {name}"


def page(results: Results) -> str:
    """Wins and losses, a chapter for each group with its picture, growth, and how it was measured."""
    from jinja2 import ChoiceLoader, Environment, FileSystemLoader, PackageLoader, select_autoescape

    places = ChoiceLoader(
        [FileSystemLoader(Path(__file__).parent / "templates"), PackageLoader("veil.report")]
    )
    environment = Environment(loader=places, autoescape=select_autoescape(["html"]), trim_blocks=True)
    return environment.get_template("bench.html").render(
        results=results,
        groups=[(name, ratios, bars(ratios)) for name, ratios in results.groups.items()],
        losses=sorted((one for one in results.ratios if one.verdict == "loses"), key=lambda one: one.ratio),
        growths=results.growths,
        growth_picture=plots(results.growths),
        value=value,
        times=times,
        law=law,
    )
