"""What may be released, and what it means for two of them to be neighbours."""
