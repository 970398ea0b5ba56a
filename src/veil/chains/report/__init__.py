"""Pages, pictures and terminal output of counted chains."""
