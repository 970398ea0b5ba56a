"""veil.bits.learn: what is released, what is learnt from it, and what a pipeline may not do."""

from __future__ import annotations

import math
import subprocess
import sys
from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chisquare

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

import veil.bits.learn
from veil.bits.adjacency import BitFlips
from veil.bits.learn import DebiasedClassifier, PrivateBits, PrivateTable
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.numerics.moments import BitSignals
from veil.errors import InvalidArgument, InvalidData, NoGuarantee

# Probability that a right implementation fails a statistical test.
ALPHA = 1e-6
Table = NDArray[np.bool_]


def planted(rows: int, columns: int, seed: int) -> tuple[Table, Table]:
    """Bits of which the first two say the label, with one in ten wrong."""
    rng = np.random.default_rng(seed)
    bits = rng.random((rows, columns)) < 0.5
    labels = rng.random(rows) < 0.5
    bits[:, :2] = labels[:, None] ^ (rng.random((rows, 2)) < 0.1)
    return bits, labels


class Purse:
    """A ledger that notes what it is charged."""

    def __init__(self) -> None:
        self.charged: list[float] = []
        self.confirmed = 0

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> int:
        self.charged.append(epsilon)
        return len(self.charged)

    def confirm(self, entry: Any) -> None:
        self.confirmed += 1


def released_law(epsilon: float, record: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The law of a private record (bits, then label), from the noise on its code."""
    bits = len(record)
    sizes = StaircaseXor(bits, epsilon).sizes()
    code = [bit ^ record[-1] for bit in record[:-1]] + [record[-1]]
    found = {}
    for flips in product((0, 1), repeat=bits):
        seen = [bit ^ flip for bit, flip in zip(code, flips, strict=True)]
        decoded = (*(bit ^ seen[-1] for bit in seen[:-1]), seen[-1])
        found[decoded] = float(sizes[sum(flips)]) / math.comb(bits, sum(flips))
    return found


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_the_whole_record_with_its_label_is_hidden(epsilon: float) -> None:
    laws = [released_law(epsilon, record) for record in product((0, 1), repeat=4)]
    for one, other in product(laws, repeat=2):
        assert len(one) == 16
        assert max(abs(math.log(one[seen] / other[seen])) for seen in one) <= epsilon * (1 + 1e-12)


def test_records_are_drawn_from_that_law() -> None:
    record, epsilon, rows = (1, 0, 1, 1), 1.5, 40_000
    table = np.tile(np.array(record[:-1]), (rows, 1))
    step = PrivateBits(epsilon, classes=(0, 1), random_state=3)
    found = step.fit_transform(table, np.full(rows, record[-1]))
    seen = np.column_stack([found.bits, found.labels]).astype(int)
    codes, cells = seen @ (8, 4, 2, 1), list(product((0, 1), repeat=4))
    counts = np.bincount(codes, minlength=16)
    law = released_law(epsilon, record)
    assert chisquare(counts, rows * np.array([law[cell] for cell in cells])).pvalue > ALPHA
    # A label that is not noised, or a label that is not part of the record, is seen at once.
    other = released_law(epsilon, (1, 0, 1, 0))
    assert chisquare(counts, rows * np.array([other[cell] for cell in cells])).pvalue < ALPHA


@pytest.mark.parametrize("protected", [True, False])
def test_moments_are_unbiased(protected: bool) -> None:
    rng = np.random.default_rng(6)
    columns, width = (3, 4) if protected else (4, 4)
    bits, labels = rng.random((7, columns)) < 0.5, rng.random(7) < 0.5
    sizes = StaircaseXor(width, 1.2).sizes()
    signals = BitSignals.staircase(width, 1.2)
    code = np.column_stack([bits ^ labels[:, None], labels]) if protected else bits
    signs, own = 2.0 * bits - 1.0, 2.0 * labels - 1.0
    means: dict[str, Any] = dict.fromkeys(("label", "features", "products", "pairs"), 0.0)
    squares: dict[str, Any] = dict(means)
    # The rows' noises are independent and the moments are means over rows: the same noise in every row has
    # the right mean. Its square, for one row, has the variance stated.
    for flips in product((0, 1), repeat=width):
        chance = float(sizes[sum(flips)]) / math.comb(width, sum(flips))
        seen = code ^ np.array(flips, dtype=bool)
        shown = seen[:, -1] if protected else labels
        seen = seen[:, :-1] ^ shown[:, None] if protected else seen
        table = PrivateTable(seen, shown, np.array([False, True]), signals, protected)
        alone = PrivateTable(seen[:1], shown[:1], np.array([False, True]), signals, protected)
        for name in means:
            means[name] += chance * getattr(table.moments(), name)
            squares[name] += chance * np.square(getattr(alone.moments(), name))
    np.testing.assert_allclose(means["label"], own.mean(), atol=1e-12)
    np.testing.assert_allclose(means["features"], signs.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(means["products"], own @ signs / 7, atol=1e-12)
    np.testing.assert_allclose(means["pairs"], signs.T @ signs / 7, atol=1e-12)
    # True signs are 1 in square.
    found = alone.moments()
    np.testing.assert_allclose(squares["label"], 1.0 + found.label_variance)
    np.testing.assert_allclose(squares["features"], 1.0 + found.features_variance)
    np.testing.assert_allclose(squares["products"], 1.0 + found.products_variance)
    above = np.triu_indices(columns, 1)
    np.testing.assert_allclose(squares["pairs"][above], 1.0 + found.pairs_variance)


def test_where_nothing_is_left_of_pairs_it_learns_without() -> None:
    # 5 bits at a small epsilon keep to the nearer half: kappa_2 = 0.
    bits, labels = planted(20_000, 4, 7)
    table = PrivateBits(0.5, random_state=0).fit_transform(bits, labels)
    found = table.moments()
    assert found.pairs_variance == found.features_variance == math.inf
    assert not found.features.any()
    np.testing.assert_array_equal(found.pairs, np.eye(4))
    assert DebiasedClassifier().fit(table).score(bits, labels) > 0.85


def test_the_label_bit_is_part_of_the_unit() -> None:
    bits, labels = planted(50, 5, 0)
    given: dict[Any, int] = {"protected": 6, "public": 5}
    for label, width in given.items():
        step = PrivateBits(1.5, label=label, random_state=1)
        table = step.fit_transform(bits, labels)
        assert step.release_.epsilon == 1.5
        assert step.release_.delta == 0.0
        assert step.release_.adjacency == BitFlips(width, where="row")
        assert step.release_.reproducible
        assert table is step.table_
        assert any("label" in words for words in step.assumptions_) == (label == "public")
        assert (table.labels == labels).all() == (label == "public")
    assert not PrivateBits(1.0).fit(bits).__dict__.get("release_")
    fresh = PrivateBits(1.0)
    fresh.fit_transform(bits, labels)
    assert not fresh.release_.reproducible


def test_a_ledger_is_charged_once_a_release() -> None:
    bits, labels = planted(30, 4, 0)
    purse = Purse()
    step = PrivateBits(0.7, ledger=purse)
    step.fit(bits, labels)
    step.transform(bits)
    assert purse.charged == []
    step.fit_transform(bits, labels)
    assert purse.charged == [0.7]
    assert purse.confirmed == 1


def test_scikit_learn_can_copy_and_set_parameters() -> None:
    step = PrivateBits(2.0, label="public", random_state=5)
    again = clone(step)
    assert again.get_params() == step.get_params()
    assert again.set_params(epsilon=3.0).epsilon == 3.0
    assert clone(DebiasedClassifier(strength=2.0)).strength == 2.0
    bits, labels = planted(40, 4, 1)
    tables = [PrivateBits(1.0, random_state=9).fit_transform(bits, labels).bits for _ in range(2)]
    assert (tables[0] == tables[1]).all()


@pytest.mark.parametrize("label", ["protected", "public"])
def test_pipelines_train_on_the_release_and_predict_on_true_bits(label: Any) -> None:
    bits, labels = planted(3000, 8, 2)
    names = np.where(labels, "yes", "no")
    model = make_pipeline(
        Binarizer(), PrivateBits(2.0, label=label, random_state=0), DebiasedClassifier()
    ).fit(bits[:2000].astype(float) * 3.0, names[:2000])
    assert model.score(bits[2000:].astype(float), names[2000:]) > 0.85
    assert set(model.predict(bits[:50].astype(float))) == {"yes", "no"}
    shares = model.predict_proba(bits[:50].astype(float))
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (model[-1].classes_ == ["no", "yes"]).all()


def test_test_rows_pass_unchanged() -> None:
    bits, labels = planted(30, 4, 3)
    step = PrivateBits(1.0)
    step.fit_transform(bits, labels)
    np.testing.assert_array_equal(step.transform(bits), bits.astype(float))
    with pytest.raises(InvalidData, match="4 columns"):
        step.transform(bits[:, :3])


def test_the_classifier_does_not_read_the_labels_of_the_pipeline() -> None:
    bits, labels = planted(300, 4, 4)
    table = PrivateBits(2.0, random_state=1).fit_transform(bits, labels)
    one, other = DebiasedClassifier().fit(table, labels), DebiasedClassifier().fit(table, ~labels)
    np.testing.assert_array_equal(one.coef_, other.coef_)
    np.testing.assert_array_equal(one.intercept_, other.intercept_)


def test_ordinary_estimators_are_refused_the_true_labels() -> None:
    bits, labels = planted(600, 4, 5)
    with pytest.raises(NoGuarantee, match="true ones"):
        make_pipeline(PrivateBits(4.0), LogisticRegression()).fit(bits, labels)
    model = make_pipeline(PrivateBits(4.0, label="public", random_state=2), LogisticRegression())
    assert model.fit(bits, labels).score(bits, labels) > 0.8
    table = PrivateBits(4.0, random_state=2).fit_transform(bits, labels)
    by_hand = LogisticRegression().fit(table.features, table.labels)
    assert by_hand.score(bits.astype(float), labels) > 0.8
    assert table.shape == (600, 4)
    assert len(table) == 600


def test_unbiased_features_are_right_in_the_mean() -> None:
    bits = np.ones((20_000, 3), dtype=bool)
    table = PrivateBits(1.0, label="public", classes=(0, 1), random_state=4).fit_transform(
        bits, np.ones(20_000, dtype=int)
    )
    error = math.sqrt((float(table.signals.single) ** -2 - 1.0) / 4.0 / 20_000)
    assert (np.abs(np.asarray(table).mean(axis=0) - 1.0) < 5.0 * error).all()
    assert (np.abs(table.bits.mean(axis=0) - 1.0) > 5.0 * error).all()


def test_coding_by_the_label_keeps_the_signal_that_classifiers_need() -> None:
    # Factor of a column times the label: a bit of its own, against a pair of bits released as they stand.
    for columns, epsilon in ((16, 1.0), (30, 1.0), (16, 0.5)):
        signals = BitSignals.staircase(columns + 1, epsilon)
        assert signals.single > 7 * signals.pair


def test_cancer_is_learnt_at_epsilon_1_with_protected_labels() -> None:
    data: Any = load_breast_cancer()
    bits, labels = data.data > np.median(data.data, axis=0), data.target == 0
    found = []
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(labels))
        train, test = order[:426], order[426:]
        table = PrivateBits(1.0, random_state=1000 + seed).fit_transform(bits[train], labels[train])
        found.append(DebiasedClassifier().fit(table).score(bits[test], labels[test]))
    # 86.4 % on average over 200 seeds, with a standard deviation of 3.6 % each; the larger class is 62.7 %.
    assert np.mean(found) > 0.82


def test_with_little_noise_it_is_fishers_discriminant() -> None:
    analysis = pytest.importorskip("sklearn.discriminant_analysis")
    rng = np.random.default_rng(8)
    # One in five is of the second class, and columns depend on one another within a class.
    labels = rng.random(6000) < 0.2
    bits = rng.random((6000, 5)) < np.where(labels[:, None], 0.6, 0.3)
    bits[:, 4] = bits[:, 3] ^ (rng.random(6000) < 0.2)
    table = PrivateBits(60.0, random_state=0).fit_transform(bits, labels)
    model = DebiasedClassifier(strength=1e-6).fit(table)
    exact = analysis.LinearDiscriminantAnalysis().fit(bits, labels)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.02)
    np.testing.assert_allclose(model.intercept_, exact.intercept_, atol=0.02)
    np.testing.assert_allclose(model.predict_proba(bits), exact.predict_proba(bits), atol=0.01)


def test_refusals_speak_of_no_contents() -> None:
    bits, labels = planted(20, 3, 0)
    with pytest.raises(InvalidData, match="X"):
        PrivateBits(1.0).fit_transform(bits + 0.5, labels)
    with pytest.raises(InvalidData, match="X"):
        PrivateBits(1.0).fit_transform(bits[0], labels[:3])
    with pytest.raises(InvalidData, match="20 labels"):
        PrivateBits(1.0).fit_transform(bits, labels[:5])
    with pytest.raises(InvalidArgument, match="y"):
        PrivateBits(1.0).fit_transform(bits)
    with pytest.raises(InvalidData, match="two classes") as found:
        PrivateBits(1.0).fit_transform(bits, np.full(20, "secret"))
    assert "secret" not in str(found.value)
    with pytest.raises(InvalidData, match="two classes") as found:
        PrivateBits(1.0, classes=("a", "b")).fit_transform(bits, np.full(20, "secret"))
    assert "secret" not in str(found.value)
    with pytest.raises(InvalidArgument, match="label"):
        clone(PrivateBits(1.0)).set_params(label="half").fit_transform(bits, labels)
    with pytest.raises(InvalidArgument, match="epsilon"):
        PrivateBits(-1.0).fit_transform(bits, labels)
    table = PrivateBits(1.0).fit_transform(bits, labels)
    with pytest.raises(InvalidArgument, match="private table"):
        DebiasedClassifier().fit(bits, labels)
    with pytest.raises(InvalidArgument, match="strength"):
        DebiasedClassifier(strength=0.0).fit(table)
    with pytest.raises(NotFittedError):
        DebiasedClassifier().predict(bits)
    with pytest.raises(InvalidData, match="3 columns"):
        DebiasedClassifier().fit(table).predict(bits[:, :2])


def test_one_column_is_enough() -> None:
    bits, labels = planted(500, 2, 9)
    table = PrivateBits(6.0, random_state=0).fit_transform(bits[:, :1], labels)
    assert DebiasedClassifier().fit(table).score(bits[:, :1], labels) > 0.8
    public = PrivateBits(6.0, label="public", random_state=0).fit_transform(bits[:, :1], labels)
    assert DebiasedClassifier().fit(public).score(bits[:, :1], labels) > 0.8


def test_names_are_loaded_when_used() -> None:
    assert dir(veil.bits.learn) == ["DebiasedClassifier", "PrivateBits", "PrivateTable"]
    with pytest.raises(AttributeError, match="no_such_name"):
        veil.bits.learn.no_such_name  # type: ignore[attr-defined]  # noqa: B018
    code = (
        "import sys, veil.errors, veil.bits.learn\n"
        "assert 'sklearn' not in sys.modules\n"
        "sys.modules['sklearn'] = sys.modules['sklearn.base'] = None\n"
        "try:\n    veil.bits.learn.PrivateBits\n"
        "except veil.errors.MissingExtra as error:\n    print(type(error).__name__, error)\n"
    )
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert said.startswith("MissingExtra")
    assert "veil[learn]" in said
