from .estimation import GraphReading, estimates
from .graph import Graph, Graphs
from .likely_graph import Decoding, decode, decoding
from .mechanisms.private_graph import PrivateGraph
from .mechanisms.randomized_response import RandomizedResponse
from .mechanisms.xor_graph import XorGraph
from .numerics.agreement import adjusted_rand, average_f1, degree_divergence
from .planning import FactPlan, GraphPlan, edge_leakage
from .reading import EdgeSource
from .verbs import plan, read, release

__all__ = [
    "Decoding",
    "EdgeSource",
    "FactPlan",
    "Graph",
    "GraphPlan",
    "GraphReading",
    "Graphs",
    "PrivateGraph",
    "RandomizedResponse",
    "XorGraph",
    "adjusted_rand",
    "average_f1",
    "decode",
    "decoding",
    "degree_divergence",
    "edge_leakage",
    "estimates",
    "plan",
    "read",
    "release",
]
