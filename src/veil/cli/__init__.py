"""The command line: thin, without mathematics."""
