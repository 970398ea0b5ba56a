"""What every kind of data shares and none owns; nothing here names a kind."""
