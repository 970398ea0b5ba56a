"""Which places there are: grids, hexagons, zones and points, and which are next to each other."""
