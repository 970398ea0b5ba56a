"""What runs in the environment of a peer: only that peer, NumPy and the standard library are there."""
