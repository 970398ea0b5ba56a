"""Rounding to the safe side, searches, quadrature and other computations that several kinds use."""
