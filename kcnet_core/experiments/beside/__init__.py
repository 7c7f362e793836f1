"""KCNet beside ELM: two random networks on the same rows, grown cell by cell."""
