from .domain import Graphs
from .estimation import GraphReading, estimates
from .graph import Graph
from .likely_graph import Decoding, decode, decoding
from .mechanisms.private_graph import PrivateGraph
from .mechanisms.randomized_response import RandomizedResponse
from .mechanisms.xor_graph import XorGraph
from .planning import GraphPlan
from .reading import EdgeSource
from .verbs import plan, read, release

__all__ = [
    "Decoding",
    "EdgeSource",
    "Graph",
    "GraphPlan",
    "GraphReading",
    "Graphs",
    "PrivateGraph",
    "RandomizedResponse",
    "XorGraph",
    "decode",
    "decoding",
    "estimates",
    "plan",
    "read",
    "release",
]
