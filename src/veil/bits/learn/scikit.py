"""The bases of scikit-learn's estimators; imported only by what is one itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from veil.core.errors import MissingExtra

if TYPE_CHECKING:
    # scikit-learn has no annotations: what is used of it, for the type checker.
    class Estimator:
        """Parameters by name, copies without what was learnt."""

        def get_params(self, deep: bool = True) -> dict[str, Any]: ...

        def set_params(self, **params: Any) -> Estimator: ...

        def __getstate__(self) -> dict[str, Any]: ...

    class Transformer(Estimator):
        """A step of a pipeline."""

    class Classifier(Estimator):
        """The last step of a pipeline, with a score."""

        def score(self, X: Any, y: Any) -> float: ...  # noqa: N803 (scikit-learn's name)

else:
    try:
        from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
    except ImportError:
        raise MissingExtra("scikit-learn", "learn") from None

    class Transformer(TransformerMixin, BaseEstimator):
        """A step of a pipeline."""

    class Classifier(ClassifierMixin, BaseEstimator):
        """The last step of a pipeline, with a score."""
