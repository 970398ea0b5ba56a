"""Benchmarks, as ratios to a peer or to the physical limit in the same run."""
