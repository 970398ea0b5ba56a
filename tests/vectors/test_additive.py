"""Laplace and Gaussian noise on vectors: what their guarantees assume."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import veil
from veil.core.claim import claim_of
from veil.vectors.mechanisms.additive import Gaussian, Laplace

BOTH = pytest.mark.parametrize("mechanism", [Laplace, Gaussian])
FLOORED = veil.vectors.Simplex(3, floor=0.3)


@BOTH
def test_a_floor_that_is_used_is_an_assumption(mechanism: type[Laplace] | type[Gaussian]) -> None:
    """The floor leaves room for a tenth: of a larger mass the guarantee counts a tenth only."""
    wide, narrow = veil.vectors.Transfer(0.5), veil.vectors.Transfer(0.05)
    noise = mechanism(0.2, FLOORED)
    free = mechanism(0.2, veil.vectors.Simplex(3))
    assert noise.profile(wide).epsilon(0.1) < free.profile(wide).epsilon(0.1)
    assert noise.assumptions(wide) == (
        "every entry of the true vector and of its neighbours is at least 0.3",
    )
    assert noise.profile(narrow).epsilon(0.1) == free.profile(narrow).epsilon(0.1)
    assert noise.assumptions(narrow) == ()
    partly = veil.vectors.Simplex(4, floor=0.1, protected=(0, 1), slack=0.6)
    assert [text.split()[0] for text in mechanism(0.2, partly).assumptions(wide)] == ["every", "at", "the"]


@BOTH
def test_a_floor_that_was_added_to_a_record_is_noticed(
    mechanism: type[Laplace] | type[Gaussian], tmp_path: Path
) -> None:
    """With a floor the same noise has a lower epsilon, but the record does not say that it assumes one."""
    wide = veil.vectors.Transfer(0.5)
    out = veil.release(mechanism(0.1, veil.vectors.Simplex(3)), [0.4, 0.3, 0.3], adjacency=wide, delta=1e-6)
    out.save(tmp_path / "out.json")
    content = json.loads((tmp_path / "out.json").read_text())
    lower = mechanism(0.1, FLOORED).profile(wide).epsilon(1e-6)
    assert lower < 0.5 * out.epsilon
    content["mechanism"]["parameters"]["domain"]["floor"] = 0.3
    content["privacy"]["epsilon"] = lower
    (tmp_path / "forged.json").write_text(json.dumps(content))
    claim = claim_of(veil.load(tmp_path / "forged.json"), "forged.json")
    assert not claim.holds
    assert "at least 0.3" in claim.missing[0]
