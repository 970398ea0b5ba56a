"""The kinds of data that Veil comes with. A new kind is a folder and a line here."""

from __future__ import annotations

from veil.core.kind import register

register("vector", "veil.vectors.kind:VectorKind")
register("matrix", "veil.matrices.kind:MatrixKind")
register("chain", "veil.chains.kind:ChainKind")
register("sparse-chain", "veil.chains.sparse.kind:SparseChainKind")
register("words", "veil.words.kind:WordKind")
register("bits", "veil.bits.kind:BitKind")
register("graph", "veil.graphs.kind:GraphKind")
register("trips", "veil.trips.kind:TripKind")
