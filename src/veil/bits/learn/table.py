"""A private training set, and the moments of the true one that can be read off it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.domain import Table
from veil.bits.numerics.moments import BitSignals, entries
from veil.core.arrays import Floats
from veil.core.errors import NoGuarantee


@dataclass(frozen=True)
class Moments:
    """Unbiased means over the records, in signs (+1 for a one and for the second class), with variances.

    label: the labels. features: the columns. products: each column times the label. pairs: the products of
    two columns, with a diagonal of ones. A variance is that of the noise, the same for all entries; where
    nothing is left to estimate from it is infinite, and the means are 0.
    """

    label: float
    label_variance: float
    features: Floats
    features_variance: float
    products: Floats
    products_variance: float
    pairs: Floats
    pairs_variance: float


@dataclass(frozen=True)
class PrivateTable:
    """What a learner may see: private bits and labels, and the noise they carry.

    bits: the private records. labels: the label of each, private too unless labels are public. classes: the
    two labels, the second is the positive one. signals: what the noise leaves. protected: whether the labels
    are private; the columns were then released relative to the label (see `PrivateBits`).

    With public labels it can be used as an array of unbiased values in training any estimator. With private
    ones it refuses: a pipeline would train its next step on the true labels that it was given. Take
    `features` and `labels` then, or `DebiasedClassifier`, which looks at nothing else.
    """

    bits: Table
    labels: NDArray[Any]
    classes: NDArray[Any]
    signals: BitSignals
    protected: bool

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.bits), int(self.bits.shape[1])

    def __len__(self) -> int:
        return len(self.bits)

    @property
    def features(self) -> Floats:
        """Numbers to train an ordinary estimator on.

        With public labels (bit - q) / (1 - 2q), which is unbiased: far from 0 and 1, but then so is
        the noise. With private labels the private bits themselves, to be used with the private `labels`.
        """
        return self.bits.astype(np.float64) if self.protected else entries(self.bits, self.signals).value

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if self.protected:
            raise NoGuarantee(
                "the labels of this private table are private, but the next step of the pipeline is given the"
                " true ones. End the pipeline with veil.bits.learn.DebiasedClassifier, or train on"
                " table.features and table.labels, or say label='public' if the labels are no secret."
            )
        return np.asarray(self.features, dtype=dtype)

    def moments(self) -> Moments:
        """The first and second moments of the true signs."""
        signs, label = _signs(self.bits), _signs(self.labels == self.classes[1])
        single, pair = float(self.signals.single), float(self.signals.pair)
        # Of private records a column times the label is one released bit, and a column a product of two.
        kappa = {"label": single, "features": pair} if self.protected else {"label": 1.0, "features": single}
        rows = len(self)
        own, own_variance = _mean(label.sum(keepdims=True), kappa["label"], rows)
        features = _mean(signs.sum(axis=0), kappa["features"], rows)
        products, pairs = _mean(label @ signs, single, rows), _mean(signs.T @ signs, pair, rows)
        np.fill_diagonal(pairs[0], 1.0)
        return Moments(float(own[0]), own_variance, *features, *products, *pairs)


def _signs(bits: NDArray[Any]) -> Floats:
    return 2.0 * np.asarray(bits, dtype=np.float64) - 1.0


def _mean(total: Floats, kappa: float, rows: int) -> tuple[Floats, float]:
    """An unbiased mean of true signs, and its variance."""
    if kappa == 0.0:
        return np.zeros(total.shape), math.inf
    return np.asarray(total / (rows * kappa), dtype=np.float64), (kappa**-2 - 1.0) / rows
