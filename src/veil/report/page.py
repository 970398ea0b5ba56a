"""From a template to a page that needs nothing else."""

from __future__ import annotations

from typing import Any

from veil.privacy.beliefs import rounded_up


def number(value: float) -> str:
    """A number as people read it: whole where it is large."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.4g}"


def page(template: str, **content: Any) -> str:
    """The page. Text is escaped; `rounded_up` is for bounds, `number` for all other numbers."""
    from jinja2 import Environment, PackageLoader, select_autoescape

    environment = Environment(
        loader=PackageLoader("veil.report"), autoescape=select_autoescape(["html"]), trim_blocks=True
    )
    environment.filters |= {"rounded_up": rounded_up, "number": number}
    return environment.get_template(template).render(**content)
