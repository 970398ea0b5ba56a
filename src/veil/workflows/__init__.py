"""What a user asks for in one call."""
