"""A binary training set made private, as a step of scikit-learn's pipelines.

The unit is a record: all of its bits, and its label unless labels are public. So P columns with protected
labels are P + 1 bits that may all differ between neighbours, under the best noise there is for so many
(`bits.StaircaseXor`).

Which P + 1 bits? Any one-to-one coding of records keeps the privacy: neighbours are tables that differ in
one record, whatever its code. Here a record (x, y) is coded as (x_1 XOR y, ..., x_P XOR y, y). What a linear
classifier learns from is the mean of sign(x_j) sign(y), which is the sign of a code bit; so it keeps the
factor kappa_1 of a single bit. Releasing (x, y) as it stands would leave kappa_2, the factor of a pair, which
is about kappa_1^2 and may be 0. The price: a column by itself keeps kappa_2. For 16 columns at epsilon = 1
the factors are 0.097 and 0.012; with public labels the former is 0.100. Protected labels cost more than
that where columns are far from balanced or few, because their own means are then known badly.
"""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from veil.bits.domain import Table, as_bits
from veil.bits.learn.scikit import Transformer
from veil.bits.learn.table import PrivateTable
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.bits.numerics.moments import BitSignals
from veil.core.account import Account
from veil.core.checks import choice
from veil.core.errors import InvalidArgument, InvalidData, NoGuarantee
from veil.core.job import release
from veil.core.record import Release

LABELS = ("protected", "public")
ROWS_ARE_PUBLIC = "the number of records is public"
CLASSES_ARE_PUBLIC = "the names of the two classes are public"
LABELS_ARE_PUBLIC = "the label of every record is public"


class _LeftBehind:
    """In the place of a ledger that was not taken along: nothing can be charged, so nothing is released."""

    def reserve(self, *, epsilon: float, delta: float, description: dict[str, Any]) -> Any:
        raise NoGuarantee(
            "ledger: this PrivateBits was copied or sent to another process, and its ledger was not. Set"
            " ledger= again; with cross-validation, n_jobs=None keeps all in one process."
        )

    def confirm(self, entry: Any) -> None:
        """Never reached."""


class PrivateBits(Transformer):
    """Train on private bits, predict on true ones.

    epsilon: what one `fit_transform` costs, for the whole of a record. label: "protected", one more bit of
    the record, or "public". classes: the two labels, the positive one last; None takes those found, whose
    names are then public. ledger: where the cost is charged. random_state: None for cryptographic
    randomness; a seed or a numpy Generator makes the release reproducible, so not private.

    `fit_transform(X, y)` releases the training set, as a `PrivateTable`; `transform(X)` hands rows through
    as they are, for prediction. So rows that were trained on must not go through `transform` and out. Each
    `fit_transform` costs epsilon again: k folds of cross-validation train on a record k - 1 times, and the
    score on the fold left out is computed from true records, which nothing protects.

    release_: the release, of coded records. table_: the same as bits and labels. assumptions_: what must
    hold for the guarantee.

    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from veil.bits.learn import DebiasedClassifier, PrivateBits
    >>> X = np.random.default_rng(0).integers(0, 2, size=(2000, 5))
    >>> y = X[:, 0]
    >>> model = make_pipeline(PrivateBits(2.0, random_state=0), DebiasedClassifier()).fit(X, y)
    >>> model[0].release_.epsilon, bool(model.score(X, y) > 0.95)
    (2.0, True)
    """

    def __init__(
        self,
        epsilon: float,
        *,
        label: Literal["protected", "public"] = "protected",
        classes: Any = None,
        ledger: Account | None = None,
        random_state: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label = label
        self.classes = classes
        self.ledger = ledger
        self.random_state = random_state

    def __sklearn_clone__(self) -> Self:
        """A copy that charges the same ledger: scikit-learn would copy that too, and lose the charge."""
        return type(self)(**self.get_params(deep=False))

    def __getstate__(self) -> dict[str, Any]:
        """Without the ledger: one in another process would not be the one that is charged."""
        state = dict(super().__getstate__())
        if state.get("ledger") is not None:
            state["ledger"] = _LeftBehind()
        return state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: N803 (scikit-learn's name)
        """Check the table and remember its columns. Releases nothing and costs nothing."""
        self.n_features_in_ = int(_table(X).shape[1])
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> PrivateTable:  # noqa: N803
        """Release the training set: the only step that costs."""
        choice("label", self.label, LABELS)
        table = _table(X)
        classes, positive = _labels(y, self.classes, len(table))
        protected = self.label == "protected"
        record = np.column_stack([table ^ positive[:, None], positive]) if protected else table
        mechanism = StaircaseXor(record.shape[1], self.epsilon)
        self.release_: Release[Any] = release(mechanism, record, ledger=self.ledger, rng=self.random_state)
        seen: Table = np.asarray(self.release_.value, dtype=np.bool_)
        if protected:
            seen, positive = seen[:, :-1] ^ seen[:, -1:], seen[:, -1]
        signals = BitSignals.staircase(record.shape[1], mechanism.epsilon)
        self.table_ = PrivateTable(seen, classes[positive.astype(np.int64)], classes, signals, protected)
        self.n_features_in_ = table.shape[1]
        given = () if self.classes is not None else (CLASSES_ARE_PUBLIC,)
        also = (ROWS_ARE_PUBLIC, *given, *(() if protected else (LABELS_ARE_PUBLIC,)))
        self.assumptions_ = tuple(dict.fromkeys((*self.release_.assumptions, *also)))
        return self.table_

    def transform(self, X: Any) -> NDArray[np.float64]:  # noqa: N803
        """Rows to predict for, as they are: nothing is protected here."""
        table = _table(X)
        expected = getattr(self, "n_features_in_", table.shape[1])
        if table.shape[1] != expected:
            raise InvalidData("X", expected=f"{expected} columns", found=f"{table.shape[1]}")
        return table.astype(np.float64)


def _table(X: Any) -> Table:  # noqa: N803
    table = as_bits("X", X)
    if table.ndim != 2 or table.size == 0:
        raise InvalidData("X", expected="rows of bits", found=f"an array of shape {table.shape}")
    return table


def _labels(y: Any, classes: Any, rows: int) -> tuple[NDArray[Any], Table]:
    """The two classes, and where a label is the second one."""
    if y is None:
        raise InvalidArgument("y", expected="a label for every record", found="None")
    labels = np.asarray(y)
    if labels.shape != (rows,):
        raise InvalidData("y", expected=f"{rows} labels, one for each record", found=f"shape {labels.shape}")
    # What is found is said in numbers only.
    two = np.unique(labels) if classes is None else np.asarray(classes)
    if two.shape != (2,) or two[0] == two[1]:
        where = "y" if classes is None else "classes"
        raise InvalidData(where, expected="two classes", found=f"{two.size}", hint="Name them: classes=.")
    if not np.isin(labels, two).all():
        raise InvalidData("y", expected="no label but the two classes", found="others")
    return two, np.asarray(labels == two[1], dtype=np.bool_)
