"""Text becomes a checked molecule, and that becomes features and drawings."""
