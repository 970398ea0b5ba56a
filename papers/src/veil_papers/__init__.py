"""The reproduction of the papers: their number, our number, why they differ."""
