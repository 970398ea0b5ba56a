"""The record of one release: all that a reader needs, nothing that is sensitive."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import ROUND_CEILING, Decimal
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from veil.bits.bit_flips import BitFlips
from veil.bits.domain import Bits
from veil.chains.mechanisms.private_chain import PrivateChain
from veil.chains.sequence_model import SequenceModel
from veil.core.checks import shown
from veil.core.domain import Domain
from veil.core.errors import InvalidArgument, MissingExtra
from veil.core.intake import Floats, Labels
from veil.core.mechanism import Mechanism
from veil.core.named_matrix import Taken
from veil.core.privacy.profile import PrivacyProfile
from veil.graphs.graph import Graph
from veil.matrices.birkhoff import Birkhoff
from veil.matrices.chain import Chain
from veil.matrices.stochastic import StochasticMatrix
from veil.vectors.adjacency import Adjacency
from veil.words.batch import WordBatch
from veil.words.codec import WordsElsewhere
from veil.words.language import Language

if TYPE_CHECKING:
    import pandas

Tables = Mapping[str, NDArray[Any]]
ONE_PER_PERSON = "one item per person: each vector of the batch belongs to someone else"


@dataclass(frozen=True)
class Release:
    """A private value, the mechanism that made it, and what is guaranteed.

    value: what may be handed out: an array, a `veil.Chain`, words, bits, or a graph as it came.
    mechanism, domain, adjacency: how it was made, and between which inputs it hides the difference.
    epsilon, delta: the guarantee that was charged. assumptions: what a reader must accept for it to hold;
    empty for the defaults. reproducible: drawn from a seed, so not private. entry: the ledger's id.
    tables: of a chain, the private counts it was made of; of a graph, what was released of it besides.
    graph: a released graph, as Veil sees it.
    Never in here: the input, a seed, anything computed from the input except through the mechanism.
    """

    value: Any
    mechanism: Mechanism
    adjacency: Adjacency
    epsilon: float
    delta: float
    assumptions: tuple[str, ...] = ()
    reproducible: bool = False
    entry: Any = None
    labels: Labels | None = None
    row_labels: Labels | None = None
    created: str = ""
    version: str = ""
    records: int | None = field(
        default=None, metadata={"public": "the number of records, where it is public"}
    )
    tables: Tables = field(default_factory=dict)
    graph: Graph | None = None

    def __post_init__(self) -> None:
        tables = {key: _frozen(table) for key, table in self.tables.items()}
        object.__setattr__(self, "tables", tables)
        if self.is_words:
            if isinstance(self.value, np.ndarray):
                object.__setattr__(self, "value", _frozen(self.value))
        elif self.is_bits:
            if self.is_facts:
                object.__setattr__(self, "value", tables)
            elif self.graph is None:
                object.__setattr__(self, "value", _frozen(np.asarray(self.value, dtype=np.bool_)))
        elif not isinstance(self.value, Chain):
            object.__setattr__(self, "value", _frozen(np.asarray(self.value, dtype=np.float64)))

    @property
    def array(self) -> Floats:
        """The value as an array; of a chain, its transition matrix. Words and graphs have none."""
        found: Floats = self.value.to_numpy() if isinstance(self.value, Chain) else self.value
        return found

    @cached_property
    def model(self) -> SequenceModel:
        """All that a released chain says of sequences: starts, lengths, the state before the last."""
        if not isinstance(self.mechanism, PrivateChain):
            raise InvalidArgument(
                "release", expected="a chain that was counted from a table", found=self.mechanism.name
            )
        return self.mechanism.model(self.tables, self.value.states)

    @property
    def domain(self) -> Domain:
        return self.mechanism.domain

    @property
    def profile(self) -> PrivacyProfile:
        """delta as a function of epsilon for this release."""
        return self.mechanism.profile(self.adjacency)

    def chain_of(self, group: str) -> Chain:
        """The chain of one group, where one was released for each."""
        found = self.model.groups if isinstance(self.mechanism, PrivateChain) else {}
        if not isinstance(group, str) or group not in found:
            names = ", ".join(list(found)[:8]) + (", ..." if len(found) > 8 else "")
            expected = f"one of {names}" if found else "none, since the release has no groups"
            raise InvalidArgument("group", expected=expected, found=shown(group))
        return found[group]

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the record as JSON, or only the value as CSV, by the ending of the path."""
        from veil.core.files import save

        save(self, path, overwrite=overwrite)

    def to_pandas(self) -> pandas.Series | pandas.DataFrame:
        """The value with its labels: a Series for one vector, a DataFrame for a batch."""
        try:
            import pandas
        except ImportError:
            raise MissingExtra("pandas", "pandas") from None
        names = None if self.labels is None else list(self.labels)
        if self.is_facts:
            facts = [(key, number) for key, table in self.tables.items() for number in table.tolist()]
            return pandas.DataFrame(facts, columns=["fact", "number"])
        if self.graph is not None:
            pairs = self.graph.labelled_edges()
            return pandas.DataFrame(pairs, columns=["origin", "destination"])
        if self.is_words:
            batch = self.batch
            rows = pandas.Index(np.repeat(np.arange(1, len(batch) + 1), batch.lengths), name="word")
            return pandas.Series([symbol for word in batch for symbol in word], index=rows, name="symbol")
        if self.is_chain:
            frame: pandas.DataFrame = self.value.to_pandas()
            return frame
        if self.value.ndim == 1:
            return pandas.Series(self.value.copy(), index=names, name="probability")
        flat = self.value.reshape(-1, self.value.shape[-1])
        rows = None if self.row_labels is None else list(self.row_labels)
        return pandas.DataFrame(flat.copy(), index=rows, columns=names)

    @property
    def is_matrix(self) -> bool:
        """Whether the value is one matrix, rather than a vector or a batch of vectors."""
        return self.is_chain or (
            isinstance(self.domain, (StochasticMatrix, Birkhoff)) and self.value.ndim == 2
        )

    @property
    def is_words(self) -> bool:
        """Whether the value is a word or several."""
        return isinstance(self.domain, Language)

    @cached_property
    def batch(self) -> WordBatch:
        """The released words as codes."""
        if not isinstance(self.domain, Language):
            raise InvalidArgument("release", expected="words", found=self.domain.words)
        if isinstance(self.value, WordsElsewhere):
            raise InvalidArgument(
                "value", expected="words in the record", found=f"a record of words in {self.value.file}"
            )
        return self.domain.validate(self.value, shorter=True)

    @property
    def size(self) -> str:
        """How much was released, in words."""
        if self.is_facts:
            return f"facts about a graph: {', '.join(self.tables)}"
        if self.graph is not None:
            nodes, edges = self.graph.space.nodes, len(self.graph)
            return f"{self.graph.space.kind} graph, {nodes:,} nodes, {edges:,} edges"
        if not self.is_words:
            return f"shape {self.array.shape}"
        count = len(self.value) if isinstance(self.value, WordsElsewhere) else len(self.batch)
        where = f" in {self.value.file}" if isinstance(self.value, WordsElsewhere) else ""
        return f"{count:,} word{'' if count == 1 else 's'}{where}"

    @property
    def is_bits(self) -> bool:
        """Whether the value is a table of bits or a graph."""
        return isinstance(self.domain, Bits)

    @property
    def is_facts(self) -> bool:
        """Whether the value is facts about a graph, without the graph."""
        return self.is_bits and isinstance(self.value, Mapping)

    @property
    def is_chain(self) -> bool:
        """Whether the value is a Markov chain."""
        return isinstance(self.value, Chain)

    def to_chain(self) -> Chain:
        """The released matrix as a Markov chain, ready to be analysed."""
        if isinstance(self.value, Chain):
            return self.value
        if not self.is_matrix or self.value.shape[0] != self.value.shape[1]:
            shape = "" if self.is_words or self.is_bits else f"shape {self.value.shape} of "
            raise InvalidArgument(
                "value", expected="a square matrix of transitions", found=shape + self.domain.words
            )
        return Chain(Taken(self.value, self.row_labels, self.labels))

    def to_networkx(self) -> Any:
        """The value as a graph, where it has that shape; a probability vector has not."""
        if self.graph is not None:
            return self.graph.to_networkx()
        if not self.is_matrix:
            raise InvalidArgument(
                "value", expected="a matrix or a graph", found=self.domain.words, hint="Use to_pandas()."
            )
        return self.to_chain().to_networkx()

    def __eq__(self, other: object) -> bool:
        from veil.core.files import to_json

        return isinstance(other, Release) and to_json(self) == to_json(other)

    def __hash__(self) -> int:
        content = self.graph if self.graph is not None else self.value
        plain = self.is_words or self.is_facts or self.graph is not None
        content = content if plain else self.array.tobytes()
        return hash((self.created, self.epsilon, self.delta, str(content)))

    @property
    def factor(self) -> str:
        """e^epsilon, as people read it, rounded up: it is a bound."""
        if self.epsilon >= 50.0:
            return f"e^{self.epsilon:.4g}"
        factor = Decimal(math.exp(self.epsilon))
        return f"{factor.quantize(Decimal(1).scaleb(factor.adjusted() - 3), rounding=ROUND_CEILING):f}"

    @property
    def neighbours(self) -> str:
        """Between which inputs the difference is hidden, in words."""
        if (self.graph is not None or self.is_facts) and isinstance(self.adjacency, BitFlips):
            count = self.adjacency.count
            return "two graphs on the same nodes that differ in " + (
                "one edge" if count == 1 else f"at most {count} edges"
            )
        return self.adjacency.words

    @property
    def kind_of_value(self) -> str:
        """What is released, in words."""
        return "graphs" if self.graph is not None or self.is_facts else self.domain.words

    @property
    def worst_loss(self) -> float:
        """How far any belief can move: epsilon, or the largest loss that delta leaves possible."""
        return self.epsilon if self.delta == 0.0 else self.profile.pure_epsilon

    @property
    def guarantee(self) -> str:
        """The guarantee in one sentence."""
        extra = "" if self.delta == 0.0 else f", plus at most {self.delta:.3g}"
        return (
            f"Between neighbours ({self.neighbours}) no outcome is more than {self.factor} times as "
            f"likely for one as for the other{extra}."
        )

    def _repr_html_(self) -> str:
        from veil.core.notebook import release_card

        return release_card(self)


def _frozen(array: NDArray[Any]) -> NDArray[Any]:
    copy = np.array(array)
    copy.setflags(write=False)
    return copy
