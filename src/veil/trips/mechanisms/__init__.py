"""How trips are hidden."""
