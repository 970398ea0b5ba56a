"""The XOR paper, reproduced: its tables of bits, then its graphs."""

from __future__ import annotations

from veil_papers import references
from veil_papers.reproduction import xor_graphs, xor_tables
from veil_papers.reproduction.exhibit import Paper

PAPER = Paper(
    references.XOR,
    (*xor_tables.EXHIBITS, *xor_graphs.EXHIBITS),
)
