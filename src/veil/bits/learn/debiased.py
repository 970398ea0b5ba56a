"""A linear discriminant of moments from which the noise was taken out.

Fisher's discriminant needs only second moments: in signs, the covariances C of the columns, their covariances
c with the label, the means of both. `PrivateTable.moments` has unbiased estimates with known variances. Where
the noise is large, unbiased is not enough, so each is drawn towards what is typical:

    means     by v0 / (v0 + v), v the variance of the noise and v0 = 0.09 that of a mean among columns;
    pairs     likewise, with v0 read off the pairs themselves: their mean square less v, between 0 and 1/4;
    C         made positive definite (no eigenvalue below 0.05);
    weights   w = (C + ridge I)^-1 c, ridge = sqrt(P v) + 0.02, with v the variance of the products: sqrt(P v)
              is the length of the noise in c, beside eigenvalues of C around 1.

w is the regression of the label's sign y on the columns. With s2 = 1 - mean(y)^2 the variance of y, and R2
the share of it that w explains (less what noise alone would, and between 0.02 and 0.9), the log-odds of two
normal classes with a common covariance are W (s - mid) + log of the classes' odds, where

    W = 2 w / (s2 (1 - R2)),   mid = mean(s) - h c mean(y) / s2,

mid half way between the classes, and h = max(0, 1 - P v / |c|^2) the part of c that is not noise. So with
much noise w tends to c, column by column; with little, to Fisher's discriminant. The constants and the form
are ours: chosen among some twenty variants by their accuracy on six data sets, the two of the XOR paper among
them. That touches the accuracy only, never the privacy.
"""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from veil.bits.domain import as_bits
from veil.bits.learn.scikit import Classifier
from veil.bits.learn.table import Moments, PrivateTable
from veil.core.arrays import Floats
from veil.core.errors import InvalidArgument, InvalidData

_MEAN_SPREAD, _MOST_PAIR_SPREAD = 0.09, 0.25
_LEAST_EIGENVALUE, _LEAST_RIDGE = 0.05, 0.02
_EXPLAINED = (0.02, 0.9)
# A mean of signs of exactly one would make a column constant, which a sample cannot show.
_LARGEST_MEAN = 0.95


class DebiasedClassifier(Classifier):
    """The last step of a pipeline that begins with `PrivateBits`.

    strength: a factor of the ridge; 1 is right for the noise there is.

    It learns from the private table alone: the labels that a pipeline hands to its last step are not read.
    coef_, intercept_: of the log-odds of the second class, for bits as 0 and 1.
    """

    def __init__(self, *, strength: float = 1.0) -> None:
        self.strength = strength

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Learn from a private table; y is ignored."""
        if not isinstance(X, PrivateTable):
            raise InvalidArgument(
                "X", expected="a private table, from PrivateBits.fit_transform", found=type(X).__name__
            )
        if not self.strength > 0.0:
            raise InvalidArgument("strength", expected="a positive number", found=repr(self.strength))
        intercept, weights = _discriminant(X.moments(), self.strength)
        self.classes_ = X.classes
        self.n_features_in_ = X.shape[1]
        # From signs 2x - 1 to bits x.
        self.coef_ = 2.0 * weights[None, :]
        self.intercept_ = np.array([intercept - weights.sum()])
        return self

    def decision_function(self, X: Any) -> Floats:  # noqa: N803
        """The estimated log-odds of the second class."""
        if not hasattr(self, "coef_"):
            from sklearn.exceptions import NotFittedError

            raise NotFittedError("This DebiasedClassifier is not fitted yet: call fit first.")
        table = as_bits("X", X)
        if table.ndim != 2 or table.shape[1] != self.n_features_in_:
            raise InvalidData("X", expected=f"{self.n_features_in_} columns", found=f"shape {table.shape}")
        return np.asarray(table @ self.coef_[0] + self.intercept_[0], dtype=np.float64)

    def predict(self, X: Any) -> NDArray[Any]:  # noqa: N803
        """The class of each row of true bits."""
        second = (self.decision_function(X) > 0.0).astype(np.int64)
        chosen: NDArray[Any] = self.classes_[second]
        return chosen

    def predict_proba(self, X: Any) -> Floats:  # noqa: N803
        """The estimated probability of each class."""
        second = np.asarray(expit(self.decision_function(X)), dtype=np.float64)
        return np.column_stack([1.0 - second, second])


def _discriminant(found: Moments, strength: float) -> tuple[float, Floats]:
    """The constant and the weights of the log-odds, for signs."""
    columns, noise = len(found.products), found.products_variance
    label = float(_drawn_in(np.array([found.label]), found.label_variance)[0])
    means = _drawn_in(found.features, found.features_variance)
    within = _pairs_drawn_in(found.pairs, found.pairs_variance) - np.outer(means, means)
    values, vectors = np.linalg.eigh(within)
    values = np.maximum(values, _LEAST_EIGENVALUE)
    values += strength * (math.sqrt(columns * noise) + _LEAST_RIDGE)
    across = found.products - means * label
    weights = vectors @ (vectors.T @ across / values)
    variance = 1.0 - label**2
    explained = float(across @ weights - noise * (1.0 / values).sum()) / variance
    length = float(across @ across)
    seen = max(0.0, 1.0 - columns * noise / length) if length > 0.0 else 0.0
    middle = means - seen * label / variance * across
    scaled: Floats = weights * 2.0 / (variance * (1.0 - min(max(explained, _EXPLAINED[0]), _EXPLAINED[1])))
    return math.log((1.0 + label) / (1.0 - label)) - float(scaled @ middle), scaled


def _drawn_in(means: Floats, variance: float) -> Floats:
    factor = _MEAN_SPREAD / (_MEAN_SPREAD + variance)
    return np.clip(factor * means, -_LARGEST_MEAN, _LARGEST_MEAN)


def _pairs_drawn_in(pairs: Floats, variance: float) -> Floats:
    columns = len(pairs)
    if columns < 2 or not math.isfinite(variance):
        return np.eye(columns)
    above = pairs[np.triu_indices(columns, 1)]
    spread = min(max(float(above @ above) / len(above) - variance, 0.0), _MOST_PAIR_SPREAD)
    factor = spread / (spread + variance) if spread > 0.0 else 0.0
    return np.eye(columns) + factor * (pairs - np.eye(columns))
