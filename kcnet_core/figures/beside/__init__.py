"""KCNet beside ELM: curves that grow, and pictures of what is inside the two."""
