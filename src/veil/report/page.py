"""From a template to a page that needs nothing else."""

from __future__ import annotations

from typing import Any

from veil.core.mechanism import ALARMING
from veil.core.numerics.rounding import rounded_up


def number(value: float) -> str:
    """A number as people read it: whole where it is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def page(template: str, *, package: str | tuple[str, ...] = "veil.report", **content: Any) -> str:
    """Render a page. Text is escaped; `rounded_up` is for bounds, `number` for all other numbers.

    package: where the template is, or several in which it and what it extends are searched in this order; it
    may include the shared ones of `veil.report`.
    """
    from jinja2 import ChoiceLoader, Environment, PackageLoader, select_autoescape

    packages = (package,) if isinstance(package, str) else package
    environment = Environment(
        loader=ChoiceLoader([PackageLoader(name) for name in dict.fromkeys((*packages, "veil.report"))]),
        autoescape=select_autoescape(["html"]),
        trim_blocks=True,
    )
    # Assumptions that are shown in red.
    environment.globals["alarming"] = ALARMING
    environment.filters |= {"rounded_up": rounded_up, "number": number}
    return environment.get_template(template).render(**content)
