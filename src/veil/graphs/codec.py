"""Released graphs as they are written to files."""

from __future__ import annotations

import base64
import binascii
import hashlib
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from veil.core.checks import plain_texts
from veil.core.errors import InvalidArgument, InvalidData
from veil.graphs.graph import Graph, Labels
from veil.graphs.mechanisms.private_graph import read_space
from veil.graphs.numerics.degrees import DegreeProfile
from veil.graphs.numerics.pairs import KINDS, MOST_NODES, Codes, PairSpace

# Graphs up to this size are written as pairs that people can read.
_FEW_EDGES = 5_000
_MOST_BYTES = 2**33
# A file may be made to swell: beyond some size it must hold a part of what it unfolds to.
_SWELLS, _FREELY = 200, 2**26


def graph_to_json(graph: Graph) -> dict[str, Any]:
    """Small graphs as pairs of places among the nodes, larger ones as gaps between the numbers of pairs."""
    content = _without_edges(graph)
    if len(graph) <= _FEW_EDGES:
        rows, columns = graph.edges()
        return content | {"data": np.stack((rows, columns), axis=1).tolist()}
    return content | {"gaps": _packed(graph.codes)}


def _without_edges(graph: Graph) -> dict[str, Any]:
    space = graph.space
    content: dict[str, Any] = {
        "type": "graph",
        "kind": space.kind,
        "nodes": space.rows if graph.labels is None else _plain(graph.labels),
        "loops": space.loops,
    }
    if space.kind == "bipartite":
        content["columns"] = space.columns if graph.column_labels is None else _plain(graph.column_labels)
    return content | {"edges": len(graph)}


def graph_digested(graph: Graph) -> dict[str, Any]:
    """The graph by the hash of the numbers of its pairs, which do not depend on how they are packed."""
    return _without_edges(graph) | {"codes": hashlib.sha256(graph.codes.astype("<i8").tobytes()).hexdigest()}


def _plain(labels: Labels) -> list[Any]:
    """Whole numbers stay such, so that the graph that is read back has the same nodes."""
    return [label if type(label) in (int, str) else str(label) for label in labels]


def _packed(codes: Codes) -> dict[str, str]:
    gaps = np.diff(codes, prepend=-1) - 1
    kind = next(kind for kind in ("<u1", "<u2", "<u4", "<u8") if gaps.max() <= np.iinfo(kind).max)
    data = base64.b64encode(zlib.compress(gaps.astype(kind).tobytes(), 6)).decode("ascii")
    return {"encoding": "base64 of zlib of little-endian gaps", "number": kind[1:], "data": data}


def graph_from_json(content: Any) -> Graph:
    """The graph of a file, checked to be one."""
    kind, loops, count = content["kind"], content["loops"], content["edges"]
    if kind not in KINDS or not isinstance(loops, bool) or not isinstance(count, int) or count < 0:
        raise InvalidArgument("value", expected="a graph", found="something else")
    rows, labels = _nodes(content["nodes"])
    columns, column_labels = _nodes(content["columns"]) if kind == "bipartite" else (rows, None)
    space = PairSpace(kind, rows, columns, loops)
    if max(rows, columns) > MOST_NODES or count > space.count or isinstance(count, bool):
        raise InvalidArgument("value", expected=f"at most {MOST_NODES:,} nodes and their pairs", found="more")
    if "data" in content:
        listed = content["data"]
        refused = InvalidArgument("value", expected="pairs of nodes", found="others")
        if not isinstance(listed, list) or not all(
            isinstance(pair, list) and len(pair) == 2 and all(type(end) is int for end in pair)
            for pair in listed
        ):
            raise refused
        pairs = np.array(listed, dtype=np.int64).reshape(-1, 2)
        inside = (pairs >= 0).all() and (pairs < (rows, columns)).all()
        if not inside or (not loops and (pairs[:, 0] == pairs[:, 1]).any()):
            raise refused
        codes = space.codes(pairs[:, 0], pairs[:, 1])
    else:
        codes = _unpacked(content["gaps"], count)
    if len(codes) != count:
        raise InvalidArgument("value", expected=f"{count} edges", found=f"{len(codes)}")
    return Graph(space, codes, labels, column_labels)


def facts_from_json(content: Any, wanted: Sequence[str], graph: Graph | None) -> dict[str, Codes]:
    """What was released of a graph besides its edges."""

    def numbers(key: str, size: int) -> Codes:
        table = np.array(content[key])
        if table.dtype.kind != "i" or table.shape != (size,):
            raise InvalidArgument("tables", expected=f"{key}: {size} whole numbers", found="something else")
        return table.astype(np.int64)

    # With the nodes it is known how many degrees are to be expected.
    nodes = {} if graph is not None else {"nodes": numbers("nodes", 4)}
    space = graph.space if graph is not None else read_space(nodes["nodes"])
    sizes = {"edges": 1, "triangles": 2, "degrees": DegreeProfile.among(space.rows).size}
    return {key: numbers(key, sizes[key]) for key in wanted} | nodes


def _nodes(content: Any) -> tuple[int, Labels | None]:
    if isinstance(content, int) and not isinstance(content, bool) and content >= 1:
        return content, None
    labels = content if isinstance(content, list) else []
    if not labels or not all(type(label) in (int, str) for label in labels):
        raise InvalidArgument("nodes", expected="labels, or their number", found="something else")
    plain_texts("nodes", map(str, labels))
    return len(labels), tuple(labels)


def check_node_labels(graph: Graph) -> None:
    """Refuse labels that could not be read again from a file."""
    for labels in (graph.labels, graph.column_labels):
        texts = [] if labels is None else [str(label) for label in labels]
        plain_texts("nodes", texts, error=InvalidData)
        if len(set(texts)) < len(texts):
            raise InvalidData("nodes", expected="labels that differ as text", found="some that do not")


def _unpacked(content: Any, count: int) -> Codes:
    size = {"u1": 1, "u2": 2, "u4": 4, "u8": 8}[content["number"]]
    if count * size > _MOST_BYTES:
        raise InvalidArgument("value", expected=f"at most {_MOST_BYTES} bytes", found="more")
    try:
        packed = base64.b64decode(content["data"], validate=True)
        if count * size > max(_FREELY, _SWELLS * len(packed)):
            raise InvalidArgument("value", expected="gaps between edges", found="a file that swells")
        # Never more than it says: a file may be made to swell.
        inflate = zlib.decompressobj()
        raw = inflate.decompress(packed, count * size + 1)
    except (binascii.Error, zlib.error):
        raise InvalidArgument("value", expected="gaps between edges", found="something else") from None
    if len(raw) != count * size:
        raise InvalidArgument("value", expected=f"{count} edges", found="another number")
    gaps = np.frombuffer(raw, dtype=f"<{content['number']}").astype(np.int64)
    codes: Codes = np.cumsum(gaps + 1) - 1
    return codes
