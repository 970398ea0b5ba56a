"""How audits attack mechanisms on counted transitions."""
