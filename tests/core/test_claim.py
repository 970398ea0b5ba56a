"""A record cannot claim less than its own parameters give, not by the last bit."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import veil
from veil.cli.app import main
from veil.core.claim import claim_of
from veil.core.mechanism import REAL_ARITHMETIC

GRADES = [31, 28, 21, 10, 8]
MADE: dict[str, Any] = {
    "counts": lambda: veil.vectors.release(GRADES, epsilon=1.0, rng=1),
    "dirichlet": lambda: veil.vectors.release(GRADES, epsilon=1.0, delta=1e-6, mechanism="dirichlet", rng=1),
    "laplace": lambda: veil.vectors.release(
        [0.5, 0.3, 0.2], epsilon=1.0, transfer=0.1, mechanism="laplace", rng=1
    ),
    "gaussian": lambda: veil.release(
        veil.vectors.Gaussian(0.1, veil.vectors.Simplex(3)),
        [0.5, 0.3, 0.2],
        adjacency=veil.vectors.Transfer(0.03),
        delta=1e-6,
        rng=1,
    ),
    "pure": lambda: veil.release(
        veil.vectors.GeometricCounts(7.3, 5), GRADES, adjacency=veil.vectors.Records("replace"), rng=1
    ),
}


def _forged(made: Any, path: Path, **changes: Any) -> Any:
    """The record with other numbers."""
    made.save(path, overwrite=True)
    content = json.loads(path.read_text(encoding="utf-8"))
    for key, value in changes.items():
        place = content if key in content else content["privacy"]
        assert key in place
        place[key] = value
    path.write_text(json.dumps(content), encoding="utf-8")
    return veil.load(path)


@pytest.mark.slow_for("dirichlet")
@pytest.mark.parametrize("name", MADE)
def test_a_record_as_it_was_made_holds(name: str, tmp_path: Path) -> None:
    made = MADE[name]()
    claim = claim_of(_forged(made, tmp_path / "made.json"), "made.json")
    assert claim.holds
    assert claim.added == ()


@pytest.mark.mostly_slow(quick=3)
@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("share", [9e-10, 1e-6, 0.5])
def test_a_smaller_epsilon_is_refused(name: str, share: float, tmp_path: Path) -> None:
    made = MADE[name]()
    lowered = _forged(made, tmp_path / "forged.json", epsilon=made.epsilon * (1.0 - share))
    assert not claim_of(lowered, "forged.json").holds
    assert main(["inspect", str(tmp_path / "forged.json")]) == 4


def test_the_last_bit_counts(tmp_path: Path) -> None:
    # 2 / 7.3 is no float: what is charged is the next one above it, and nothing below.
    made = MADE["pure"]()
    assert claim_of(_forged(made, tmp_path / "made.json"), "made.json").holds
    below = _forged(made, tmp_path / "forged.json", epsilon=math.nextafter(2.0 / 7.3, 0.0))
    assert not claim_of(below, "forged.json").holds


@pytest.mark.slow
def test_records_of_the_first_version_say_what_is_added(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    floats = veil.vectors.release(GRADES, epsilon=1.0, delta=1e-6, mechanism="dirichlet", exact=False, rng=1)
    assert floats.assumptions == (REAL_ARITHMETIC,)
    path = tmp_path / "old.json"
    old = _forged(floats, path, assumptions=[], veil="0.1.0")
    assert claim_of(old, "old.json").added == (REAL_ARITHMETIC,)
    assert main(["inspect", str(path)]) == 0
    assert "Today's analysis adds: real arithmetic" in capsys.readouterr().out
    # Of today's records the same is a forgery.
    assert not claim_of(_forged(floats, path, assumptions=[]), "new.json").holds


def test_inspect_lists_what_is_taken_on_trust(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    MADE["counts"]().save(tmp_path / "made.json")
    assert main(["inspect", str(tmp_path / "made.json")]) == 0
    assert "taken on trust: that the value is the one that was drawn" in capsys.readouterr().out
