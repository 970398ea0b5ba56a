"""Options that commands of the command line itself share, so that they read and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter
from cyclopts.validators import Number


def option(*names: str, help: str, least: int | None = None, negative: str = "") -> Parameter:  # noqa: A002
    """An option with its names and help. least: its smallest value."""
    return Parameter(
        name=names or None,
        help=help,
        negative=(negative,) if negative else (),
        validator=() if least is None else Number(gte=least),
        consume_multiple=False,
        show_default=None,
    )


ReportOption = Annotated[Path | None, option("--report", help="Also write an HTML report here.")]
ForceOption = Annotated[bool, option("--force", "-f", help="Overwrite existing files.")]
JsonOption = Annotated[bool, option("--json", help="Print JSON for machines.")]
PlotOption = Annotated[Path | None, option("--plot", help="Also draw a picture: .svg, .png or .pdf.")]
