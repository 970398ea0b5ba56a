"""Mechanisms by the name that their description carries."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any

from veil.core.checks import shown
from veil.core.domain import domain_from
from veil.core.errors import InvalidArgument, VeilError
from veil.core.mechanism import Mechanism

_PLACES = {
    "BalancedWords": "veil.words.mechanisms.balanced_words",
    "BorderedRows": "veil.chains.mechanisms.bordered_rows",
    "Dirichlet": "veil.vectors.mechanisms.dirichlet",
    "DirichletCounts": "veil.vectors.mechanisms.dirichlet_counts",
    "DoublyStochastic": "veil.matrices.mechanisms.doubly_stochastic",
    "EachWord": "veil.words.mechanisms.each_word",
    "ExponentialWords": "veil.words.mechanisms.exponential_words",
    "MatrixDirichlet": "veil.matrices.mechanisms.matrix_dirichlet",
    "PermuteAndFlip": "veil.words.mechanisms.permute_and_flip",
    "PrivateGraph": "veil.graphs.mechanisms.private_graph",
    "PrivateChain": "veil.chains.mechanisms.private_chain",
    "RowByRow": "veil.matrices.mechanisms.row_by_row",
    "RandomizedResponse": "veil.bits.mechanisms.randomized_response",
    "SequentialWords": "veil.words.mechanisms.sequential_words",
    "StaircaseWords": "veil.words.mechanisms.staircase_words",
    "StaircaseXor": "veil.bits.mechanisms.staircase_xor",
    "Laplace": "veil.vectors.mechanisms.additive",
    "Gaussian": "veil.vectors.mechanisms.additive",
    "GeometricCounts": "veil.vectors.mechanisms.noisy_counts",
    "Xor": "veil.bits.mechanisms.xor",
    "XorGraph": "veil.graphs.mechanisms.xor_graph",
    "XorBlocks": "veil.bits.mechanisms.xor_blocks",
    "DiscreteGaussianCounts": "veil.vectors.mechanisms.noisy_counts",
}


def _noise(description: dict[str, Any]) -> Any:
    from veil.bits.mechanisms.matrix_bernoulli import MatrixBernoulli

    return MatrixBernoulli.from_description(description)


def mechanism_from(description: Any) -> Mechanism:
    """The mechanism that `describe` described. A name never changes its meaning."""
    if not isinstance(description, dict) or not isinstance(description.get("parameters"), dict):
        raise InvalidArgument("mechanism", expected="a name and parameters", found="something else")
    name = description.get("name")
    if name not in _PLACES:
        raise InvalidArgument(
            "mechanism.name",
            expected=f"one of {', '.join(_PLACES)}",
            found=shown(name),
            hint="A newer Veil may know it.",
        )
    make: Callable[..., Mechanism] = getattr(import_module(_PLACES[name]), name)
    parameters = dict(description["parameters"])
    for key in ("domain", "domains", "language"):
        described = parameters.get(key)
        if isinstance(described, dict):
            parameters[key] = domain_from(described)
        elif isinstance(described, list):
            parameters[key] = [None if row is None else domain_from(row) for row in described]
    if isinstance(parameters.get("noise"), dict):
        parameters["noise"] = _noise(parameters["noise"])
    if isinstance(parameters.get("bands"), list):
        parameters["bands"] = [[mechanism_from(block) for block in band] for band in parameters["bands"]]
    if isinstance(parameters.get("mechanism"), dict):
        parameters["mechanism"] = mechanism_from(parameters["mechanism"])
    try:
        return make(**parameters)
    except TypeError as error:
        if isinstance(error, VeilError):
            raise
        raise InvalidArgument(
            "mechanism.parameters", expected=f"those of {name}", found=", ".join(map(str, parameters))[:80]
        ) from None
