"""Pages, pictures and terminal output of tables of bits."""
