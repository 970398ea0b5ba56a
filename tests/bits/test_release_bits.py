"""Tables of bits in one call: the job, the plan, the estimates, and what a wrong argument is told."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import veil
from veil.bits.planning import plan_bits
from veil.bits.requests import BitRelease
from veil.errors import InvalidArgument, NoGuarantee, VeilError

RNG = np.random.default_rng(3)
SHARES = np.array([0.1, 0.5, 0.8, 0.3])
TABLE = RNG.random((4000, 4)) < SHARES
FRAME = pd.DataFrame(TABLE, columns=["a", "b c", "d", "e"])


def release(value: Any = TABLE, **options: Any) -> veil.Release[Any]:
    return veil.bits.release(value, **({"epsilon": 3.0, "rng": 1} | options))


def test_the_best_is_taken() -> None:
    out = release()
    assert out.mechanism == veil.bits.StaircaseXor(4, 3.0)
    assert out.adjacency == veil.bits.BitFlips(4, where="row")
    assert (out.epsilon, out.delta, out.reproducible) == (3.0, 0.0, True)
    wrong = float(np.mean(out.value != TABLE))
    # 16,000 bits: four standard errors.
    assert abs(wrong - plan_bits(4, 3.0).best.flip_rate) < 4 * np.sqrt(0.25 / TABLE.size)


def test_a_frame_keeps_its_columns() -> None:
    out = release(FRAME)
    assert out.labels == ("a", "b c", "d", "e")
    frame = out.to_pandas()
    assert list(frame.columns) == ["a", "b c", "d", "e"]
    assert frame.to_numpy().tolist() == out.value.tolist()


@pytest.mark.parametrize(
    ("options", "mechanism"),
    [
        ({"unit": "bit"}, veil.bits.RandomizedResponse(3.0)),
        ({"unit": "bit", "flips": 2}, veil.bits.RandomizedResponse(1.5)),
        ({"flips": 2}, veil.bits.StaircaseXor(4, 3.0, flips=2)),
        ({"mechanism": "response"}, veil.bits.RandomizedResponse(0.75)),
    ],
)
def test_units(options: dict[str, Any], mechanism: Any) -> None:
    out = release(**options)
    assert out.mechanism == mechanism
    assert out.epsilon == 3.0
    assert mechanism.certified_epsilon(out.adjacency) <= 3.0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"epsilon": 0}, "epsilon"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"epsilon": "1"}, "epsilon"),
        ({"epsilon": None}, "epsilon"),
        ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1e6}, "epsilon"),
        ({"unit": "rows"}, "unit: expected 'row' or 'bit'"),
        ({"flips": 9}, "flips: expected at most the 4 bits"),
        ({"flips": True}, "flips"),
        ({"mechanism": "Staircase"}, "mechanism: expected 'auto'"),
        ({"mechanism": "staircase", "unit": "bit"}, "mechanism"),
        ({"rng": "x"}, "rng: expected None"),
    ],
)
def test_wrong_arguments(options: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidArgument, match=says):
        release(**options)


def test_a_job_does_not_show_its_table() -> None:
    job = BitRelease(epsilon=1.0).prepare(TABLE[:3])
    assert "True" not in repr(job)
    assert job.epsilon == 1.0


# Estimates


def test_estimates() -> None:
    reading = veil.bits.estimates(release(FRAME))
    share, low, high = reading.shares
    truth = TABLE.mean(axis=0)
    assert ((low <= truth) & (truth <= high)).all()
    assert np.abs(share - truth).max() < 0.06
    assert reading.labels == ("a", "b c", "d", "e")
    assert len(reading.associations()) == 6
    wider = veil.bits.estimates(release(FRAME), confidence=0.999).shares
    assert (wider[2] - wider[1] >= high - low).all()


@pytest.mark.slow
def test_intervals_hold_as_often_as_they_say() -> None:
    """200 releases of 4 columns: 95 % give or take four standard errors; half as wide they would not."""
    truth = TABLE[:500].mean(axis=0)
    inside = narrow = 0
    for seed in range(200):
        share, low, high = veil.bits.estimates(release(TABLE[:500], rng=seed)).shares
        inside += int(((low <= truth) & (truth <= high)).sum())
        narrow += int((np.abs(share - truth) <= (high - low) / 4).sum())
    assert 0.92 < inside / 800 < 0.98
    assert narrow / 800 < 0.92


def test_columns_without_names_are_numbered() -> None:
    assert veil.bits.estimates(release()).labels == ("column1", "column2", "column3", "column4")


@pytest.mark.parametrize("confidence", [0, 1, 95, "high"])
def test_wrong_confidence(confidence: Any) -> None:
    with pytest.raises(InvalidArgument, match="confidence"):
        veil.bits.estimates(release(), confidence=confidence)


def test_estimates_of_what_is_no_table() -> None:
    graph = veil.graphs.release(veil.graphs.Graph.from_edges([(0, 1)], 4), epsilon=1.0, rng=1)
    with pytest.raises(InvalidArgument, match="expected a table of bits, found undirected graph"):
        veil.bits.estimates(graph)


@pytest.mark.parametrize("verb", [veil.bits.estimates, veil.graphs.estimates, veil.graphs.decode])
def test_the_value_in_place_of_the_release(verb: Any) -> None:
    """What a newcomer hands in first: out.value in place of out."""
    with pytest.raises(InvalidArgument, match="release"):
        verb(TABLE)


# Plans


def test_plans() -> None:
    plan = plan_bits(16, 1.0, rows=435)
    assert [row.name for row in plan.found] == ["staircase", "response"]
    assert round(plan.best.flip_rate, 4) == 0.4501
    assert round(plan_bits(30, 1.0).best.flip_rate, 4) == 0.4639
    assert plan.to_dict()["mechanisms"][0]["name"] == "staircase"
    assert plan.best.share_error is not None
    enough = plan_bits(16, 1.0, rows=round(plan.best.rows_needed))
    assert enough.best.share_error == pytest.approx(0.05, rel=1e-3)


@pytest.mark.parametrize("columns", ["16", 0, 1.5, FRAME])
def test_plans_refuse(columns: Any) -> None:
    with pytest.raises(InvalidArgument, match="columns"):
        plan_bits(columns, 1.0)


# Learning


def test_private_bits_needs_labels_and_bits() -> None:
    learn = pytest.importorskip("veil.bits.learn")
    step = learn.PrivateBits(2.0, random_state=1)
    with pytest.raises(VeilError, match="y"):
        step.fit_transform(FRAME)
    with pytest.raises(VeilError, match="X"):
        step.fit_transform(FRAME.astype(float) * 2, TABLE[:, 0])
    with pytest.raises(VeilError, match="two classes, found 3"):
        step.fit_transform(FRAME, np.arange(4000) % 3)
    table = step.fit_transform(FRAME, np.where(TABLE[:, 0], "good", "bad"))
    assert table.shape == (4000, 4)
    assert step.release_.epsilon == 2.0
    with pytest.raises(NoGuarantee, match="DebiasedClassifier"):
        np.asarray(table)
