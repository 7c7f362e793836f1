"""A real fly: the wiring of the hemibrain connectome, and how its receptors answer to odorants."""
