"""Attacks on matrix releases that once worked, or might have."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import veil
from veil.core.intake import NamedMatrix
from veil.core.mechanism import ONE_PER_PERSON
from veil.core.privacy.pairs import SymmetricBetaPair
from veil.errors import InvalidData, NoGuarantee, UnreadableFile
from veil.matrices.requests import MatrixRelease
from veil.matrices.row_profiles import changed_rows
from veil.matrices.stochastic import ZEROS_ARE_PUBLIC

EACH = veil.vectors.Transfer(0.01)


@pytest.mark.slow
def test_one_k_a_row_fixes_the_number_of_rows() -> None:
    """With two k's, six rows were once taken, and "all" counted as two."""
    mechanism = veil.matrices.MatrixDirichlet(
        [100.0, 100.0], veil.vectors.Simplex(6, floor=0.02), smooth=True
    )
    assert mechanism.rows == 2
    with pytest.raises(InvalidData, match="2 rows"):
        mechanism.validate(np.full((5, 6), 1 / 6))
    # Six rows of which two belong to one item are a batch of three, and the release says so.
    batch = np.full((3, 2, 6), 1 / 6)
    out = veil.release(mechanism, batch, adjacency=veil.matrices.Rows("all", EACH), delta=1e-6, rng=1)
    assert ONE_PER_PERSON in out.assumptions
    with pytest.raises(InvalidData, match="2 rows"):
        veil.release(mechanism, np.full((6, 6), 1 / 6), adjacency=veil.matrices.Rows("all", EACH), delta=1e-6)


@pytest.mark.slow
def test_zeros_that_were_looked_at_are_assumed_public_even_if_there_are_none() -> None:
    matrix = np.array([[0.98, 0.01, 0.01], [0.3, 0.3, 0.4], [0.2, 0.2, 0.6]])
    for name in ("dirichlet", "laplace", "gaussian"):
        floor = 0.1 if name == "dirichlet" else None
        asked = MatrixRelease(transfer=0.01, epsilon=2.0, delta=1e-6, mechanism=name, floor=floor)
        looked = replace(asked, support="zeros").prepare(NamedMatrix(matrix))
        assert ZEROS_ARE_PUBLIC in looked.run(rng=1).assumptions
        assert asked.prepare(NamedMatrix(matrix)).run(rng=1).assumptions == ()


def test_names_found_among_the_entries_are_assumed_public() -> None:
    policy = {"s": {"b": 0.5, "a": 0.5}, "t": {"b": 1.0}}
    taken = veil.core.intake.named_matrix("policy", policy)
    assert taken.columns == ("a", "b")
    job = MatrixRelease(transfer=0.01, epsilon=2.0, delta=0.0, mechanism="laplace").prepare(taken)
    assert "the list of states is public" in job.run(rng=1).assumptions


def test_proved_intervals_do_not_trust_entries_that_underflowed() -> None:
    matrix = np.array([[0.5, 0.4, 0.1], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])
    mechanism = veil.matrices.MatrixDirichlet((0.003, 1e5, 1e5), veil.vectors.Simplex(3, floor=0.1))
    base = veil.release(mechanism, matrix, adjacency=veil.matrices.Rows(1, EACH), delta=0.9, rng=1)
    truth = veil.Chain(matrix).stationary()
    value = np.array([[1.0, 0.0, 0.0], [0.3, 0.4, 0.3], [0.3, 0.3, 0.4]])
    drawn = replace(base, value=np.where(value == 0.0, 1e-300, value))
    found = veil.matrices.chain_intervals(drawn).proved_stationary
    assert ((found[:, 0] <= truth) & (truth <= found[:, 1])).all()
    assert mechanism.widths(3) == [3, 3, 3]


def test_merged_rows_do_not_call_themselves_exact() -> None:
    rows = [(SymmetricBetaPair(1.0 + 0.1 * i, 0.5 + 0.01 * i), 1) for i in range(60)]
    assert changed_rows(rows, 1).kind == "upper bound"
    assert changed_rows(rows[:40], 1).kind == "exact"


def test_losses_beyond_all_floats_are_refused() -> None:
    mechanism = veil.matrices.MatrixDirichlet(1e6, veil.vectors.Simplex(4, floor=1e-6))
    with pytest.raises(NoGuarantee):
        mechanism.profile(veil.matrices.Rows(2, veil.vectors.Transfer(0.3))).epsilon(1e-6)


def test_a_negative_zero_does_not_come_out_again() -> None:
    matrix = np.array([[1.0, -0.0], [0.5, 0.5]])
    mechanism = veil.matrices.MatrixDirichlet(9.0, veil.vectors.Simplex(2, floor=0.1), support=[[0], [0, 1]])
    assert not np.signbit(mechanism.sample(matrix, rng=1)).any()


@pytest.mark.parametrize(
    ("field", "wrong"), [("delta", -1.0), ("delta", "NaN"), ("epsilon", -0.5), ("epsilon", None)]
)
def test_files_with_impossible_budgets_are_refused(tmp_path: Path, field: str, wrong: object) -> None:
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(2)), rows=2)
    out = veil.release(mechanism, [[0.5, 0.5], [0.1, 0.9]], adjacency=veil.matrices.Rows(1, EACH))
    out.save(tmp_path / "out.json")
    content = json.loads((tmp_path / "out.json").read_text())
    content["privacy"][field] = wrong
    (tmp_path / "out.json").write_text(json.dumps(content))
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path / "out.json")


def test_files_cannot_speak_in_our_name(tmp_path: Path) -> None:
    mechanism = veil.matrices.RowByRow(veil.vectors.Laplace(0.1, veil.vectors.Simplex(2)), rows=2)
    out = veil.release(mechanism, [[0.5, 0.5], [0.1, 0.9]], adjacency=veil.matrices.Rows(1, EACH))
    replace(out, version="1\nChecked: all is well", assumptions=("a\nb",)).save(tmp_path / "out.json")
    back = veil.load(tmp_path / "out.json")
    assert "\n" not in back.version + back.assumptions[0]


def test_doubly_stochastic_files_are_checked_as_such(tmp_path: Path) -> None:
    mechanism = veil.matrices.DoublyStochastic(0.2, 2)
    out = veil.release(mechanism, [[0.5, 0.5], [0.5, 0.5]], adjacency=veil.matrices.Rectangle(0.1))
    replace(out, value=np.array([[0.9, 0.1], [0.9, 0.1]])).save(tmp_path / "out.json")
    with pytest.raises(UnreadableFile):
        veil.load(tmp_path / "out.json")
