"""Paper XO, made anew: its tables of bits, then its graphs."""

from __future__ import annotations

from veil_papers.reproduction import xor_graphs, xor_tables
from veil_papers.reproduction.exhibit import Paper

PAPER = Paper(
    "XO",
    "Differentially private binary- and matrix-valued data query: an XOR mechanism",
    "T. Ji, P. Li, E. Yilmaz, E. Ayday, Y. Ye, J. Sun",
    (*xor_tables.EXHIBITS, *xor_graphs.EXHIBITS),
)
