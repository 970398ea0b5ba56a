"""How quick Veil is at equal work, in one process each."""
