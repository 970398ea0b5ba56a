"""Pages of released chains, without their pictures where only words and numbers are looked at."""

from __future__ import annotations

import re
from typing import Any
from unittest.mock import patch

import veil
from veil.chains.report.page import CountedReport
from veil.matrices.report.chain import ChainReport


def page_text(report: ChainReport | veil.Release[Any]) -> str:
    """What the tables and sentences of a page say, each run of white space as one space."""
    shown = report if isinstance(report, ChainReport) else CountedReport.of_release(report)
    # Drawing takes most of the time of a page.
    with patch("veil.report.figures.svg", return_value="<svg></svg>"):
        page = shown.html()
    return re.sub(r"\s+", " ", re.sub(r"<svg.*?</svg>", "", page, flags=re.DOTALL))
