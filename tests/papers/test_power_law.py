"""Exponents of power laws by ranges of degrees."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from veil_papers.power_law import power_law, ranges

from veil.errors import InvalidArgument

DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.mark.parametrize("exponent", [0.0, 1.0, 2.5, 3.3])
@pytest.mark.parametrize("factor", [1.05, 1.5])
def test_a_power_law_is_found(exponent: float, factor: float) -> None:
    degrees = np.arange(1.0, 3_000.0)
    shares = np.concatenate([[0.0], 0.3 * degrees**-exponent])
    found = power_law(shares, 20, 2_000, factor=factor)
    assert found.exponent == pytest.approx(exponent, abs=0.03)
    assert found.at(200.0) == pytest.approx(0.3 * 200.0**-exponent, rel=0.05)


def test_ranges_by_hand() -> None:
    shares = np.array([0.0, 0.4, 0.2, 0.0, 0.0, 0.1, 0.3])
    found = ranges(shares, 1, 6, factor=2.0)
    # 1; 2, 3; 4 to 6.
    assert found.degrees == pytest.approx([1.0, np.sqrt(6.0), np.sqrt(24.0)])
    assert found.shares == pytest.approx([0.4, 0.1, 0.4 / 3])
    # Ranges without nodes are left out.
    assert len(ranges(np.array([0.0, 0.5, 0.0, 0.0, 0.5]), 1, 4, factor=1.01).degrees) == 2


def test_bad_ranges() -> None:
    shares = np.full(10, 0.1)
    for least, most in ((0, 5), (5, 5), (1, 10)):
        with pytest.raises(InvalidArgument, match="least"):
            ranges(shares, least, most)
    with pytest.raises(InvalidArgument, match="factor"):
        ranges(shares, 1, 9, factor=1.0)
    with pytest.raises(InvalidArgument, match="two ranges"):
        power_law(np.array([0.0, 1.0, 0.0, 0.0]), 1, 3)


@pytest.mark.skipif(
    not (DATA / "facebook_combined.txt").is_file(), reason="the Facebook network is not at hand"
)
def test_facebook_has_no_power_law_below_15() -> None:
    """Printed are 1.0 below a degree of 15 and 3.3 above."""
    edges = np.loadtxt(DATA / "facebook_combined.txt", dtype=np.int64)
    shares = np.bincount(np.bincount(edges.ravel()), minlength=4039) / 4039
    most = int(np.flatnonzero(shares)[-1])
    for factor in (1.25, 1.5, 2.0):
        assert abs(power_law(shares, 1, 14, factor=factor).exponent) < 0.1
        assert 2.4 < power_law(shares, 15, most, factor=factor).exponent < 3.0
        # Its kink is near 100: there it has exponents near the printed ones.
        assert 1.1 < power_law(shares, 15, 100, factor=factor).exponent < 1.4
        assert 3.3 < power_law(shares, 101, most, factor=factor).exponent < 4.0
