"""How intense and how pleasant molecules are, as numbers that people gave."""
