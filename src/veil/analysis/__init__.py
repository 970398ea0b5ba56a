"""What can be learned from a release (free), and from a mechanism about itself."""
