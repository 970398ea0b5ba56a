"""Mathematics that knows nothing of privacy or of data: special functions, integrals, searches."""
