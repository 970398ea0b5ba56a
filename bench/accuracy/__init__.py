"""How accurate releases are at equal certified privacy."""
