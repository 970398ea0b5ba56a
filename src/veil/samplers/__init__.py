"""Pure functions that draw: randomness is an argument, and no word of privacy is known here."""
