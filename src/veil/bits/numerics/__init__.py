"""The numerics of binary tables: quadratic energies, what a change of bits costs, published bounds."""
