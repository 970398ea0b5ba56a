"""What `veil papers` shows: every table and figure of the papers, redrawn, with our numbers beside theirs."""
