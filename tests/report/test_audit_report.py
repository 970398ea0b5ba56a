"""The page of an audit: what was found, what it means, and nothing of anybody's data."""

from __future__ import annotations

import math
import re

import pytest

import veil
from veil.core.audit.auditing import Audit
from veil.core.audit.suite import AuditSuite, SeedReuse
from veil.report.audit import AuditReport, bounds_figure

COUNTS = veil.vectors.GeometricCounts(1.0, 3)


def made(lower: float = 0.4, *, claimed: float = 1.0, fault: str = "", reuse: str = "") -> AuditSuite:
    pairs = tuple(veil.AuditPair(name, [1, 2, 3], [2, 2, 3]) for name in ("one <pair>", "another"))
    audits = (
        Audit(lower, claimed, lower > claimed or bool(fault), False, 0.999, 0.0, fault),
        Audit(0.9, claimed, False, True, 0.999, 0.0),
    )
    return AuditSuite(
        COUNTS, veil.vectors.Records(), 0.0, 2_000, 0.999, pairs, audits, SeedReuse(reuse, 0.5, 27, 1e-3)
    )


def plain(text: str) -> str:
    """What a reader sees, in one line."""
    text = re.sub(r"<style.*?</style>|<svg.*?</svg>", " ", text, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", text)).replace("&nbsp;", " ")


def test_what_the_page_says() -> None:
    html = AuditReport((made(),), 0.999_999_999, "mine.json").html()
    text = plain(html)
    for part in (
        "An audit of GeometricCounts",
        "as it is described in mine.json",
        "No violation found.",
        "That is no proof",
        "2,000 draws",
        "one &lt;pair&gt; 0.4000 1.0000 samples",
        "another 0.9000 1.0000 all outputs",
        "no sign that they depend on each other",
        "1e-09 at most",
    ):
        assert part in text, part
    assert "passed" not in text
    assert html.count("<svg") == 1
    assert not re.search(r'(src|href)="http', html)


def test_a_violation_stands_first() -> None:
    text = plain(AuditReport((made(3.0, fault="odd draws", reuse="a stream was used again"),), 0.999).html())
    assert "A claim was beaten. GeometricCounts: one &lt;pair&gt;: epsilon is at least 3, claimed 1" in text
    assert "odd draws" in text
    assert "a stream was used again" in text
    assert "No violation found" not in text


def test_several_mechanisms() -> None:
    html = AuditReport((made(), made(), made()), 0.999).html()
    assert "An audit of 3 mechanisms" in plain(html)
    assert html.count("<svg") == 3


@pytest.mark.slow
def test_pictures_of_what_has_no_end() -> None:
    for suite in (made(math.inf), made(claimed=math.inf), made(0.0, claimed=0.0)):
        figure = bounds_figure([pair.name for pair in suite.pairs], suite.audits)
        left, right = figure.axes[0].get_xlim()
        assert left == 0.0
        assert math.isfinite(right)
        assert AuditReport((suite,), 0.999).html()


def test_the_same_picture_for_the_same_audit() -> None:
    assert AuditReport((made(),), 0.999).html() == AuditReport((made(),), 0.999).html()
