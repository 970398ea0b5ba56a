"""From a template to a page that needs nothing else."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from veil.core.mechanism import ALARMING
from veil.core.numerics.rounding import rounded_up
from veil.core.record import Release

if TYPE_CHECKING:
    from jinja2 import Environment


def number(value: float) -> str:
    """A number as people read it: whole where it is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def page(template: str, *, package: str | tuple[str, ...] = "veil.report", **content: Any) -> str:
    """Render a page. Text is escaped; `rounded_up` is for bounds, `number` for all other numbers.

    package: where the template is, or several in which it and what it extends are searched in this order; it
    may include the shared ones of `veil.report`. release: the page is about it; baseline.html shows whether
    it is better than knowing nothing.
    """
    packages = (package,) if isinstance(package, str) else package
    return (
        _environment(tuple(dict.fromkeys((*packages, "veil.report"))))
        .get_template(template)
        .render(**content)
    )


@cache
def _environment(packages: tuple[str, ...]) -> Environment:
    """The templates of these packages; kept, because compiling them takes longer than rendering a page."""
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in packages]),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
    )
    # Assumptions that are shown in red.
    environment.globals["alarming"] = ALARMING
    environment.globals["baselines_of"] = _baselines
    environment.filters |= {"rounded_up": rounded_up, "number": number}
    return environment


def _baselines(release: Release[Any]) -> dict[str, Any]:
    """What baseline.html shows: the lines, and their picture."""
    from veil.report.figures import baseline_figure, svg

    lines = release.kind.baselines(release)
    return {"lines": lines, "picture": svg(baseline_figure(lines)) if lines else ""}
