"""Flips of bits: against OpenDP bit by bit, on a social network, and on a graph of a million nodes."""

from __future__ import annotations

import resource
import time
from functools import partial

import numpy as np

from bench.clock import least_seconds
from veil.bits.mechanisms.randomized_response import RandomizedResponse
from veil.bits.mechanisms.staircase_xor import StaircaseXor
from veil.core.job import release
from veil.graphs.graph import Graph
from veil.graphs.mechanisms import randomized_response as of_graphs
from veil.graphs.numerics.pairs import PairSpace

BITS = 1_000_000
NODES, EDGES = 1_000_000, 10_000_000


def responses() -> None:
    """A table of bits against OpenDP's bit-vector randomised response, both exact and cryptographic."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    table = np.random.default_rng(1).random((1000, BITS // 1000)) < 0.3
    for epsilon in (1.0, 3.0):
        mechanism = RandomizedResponse(epsilon)
        # f: the probability with which OpenDP replaces a bit by a coin's.
        flip = 2.0 * mechanism.flip_rate
        peer = dp.m.make_randomized_response_bitvec(
            dp.bitvector_domain(max_weight=BITS), dp.discrete_distance(), f=flip
        )
        packed = np.packbits(table.ravel()).tobytes()
        ours = least_seconds(partial(mechanism.sample, table))
        theirs = least_seconds(partial(peer, packed), runs=2)
        rate = BITS / ours / 1e6
        print(f"epsilon {epsilon:g}: {rate:.0f} million bits/s, OpenDP {theirs / ours:.0f} times as long")


def records() -> None:
    """A million records of 16 bits by the staircase."""
    table = np.random.default_rng(2).random((1_000_000, 16)) < 0.4
    mechanism = StaircaseXor(16, 1.0)
    seconds = least_seconds(lambda: mechanism.sample(table), runs=3)
    print(f"1,000,000 records of 16 bits: {seconds:.2f} s")


def networks() -> None:
    """All pairs of a network as large as Facebook's, drawn and recorded."""
    space = PairSpace.among(4_039)
    edges = np.sort(np.random.default_rng(3).choice(space.count, 88_234, replace=False))
    graph = Graph(space, edges)
    for epsilon in (1.0, 2.0, 4.0, 6.0):
        mechanism = of_graphs.RandomizedResponse(epsilon)
        seconds = least_seconds(partial(release, mechanism, graph), runs=3)
        print(f"{space.count:,} pairs at epsilon {epsilon:g}: {seconds:.3f} s (goal: 0.5)")


def large() -> None:
    """A million nodes and ten million edges: work and memory follow the edges."""
    space = PairSpace.among(NODES)
    codes = np.unique(np.random.default_rng(4).integers(0, space.count, EDGES))
    graph = Graph(space, codes)
    start = time.perf_counter()
    out = release(of_graphs.RandomizedResponse(14.0), graph)
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    false = len(np.setdiff1d(out.value.codes, codes, assume_unique=True))
    print(
        f"{NODES:,} nodes, {len(codes):,} edges at epsilon 14: {seconds:.1f} s (goal: 60), peak {peak:.1f} GB"
    )
    print(f"  {len(out.value):,} edges released, {false:,} of them false")


def run() -> None:
    responses()
    records()
    networks()
    large()
