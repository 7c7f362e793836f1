"""Many models on the same splits: plan, rows, noise, search, and a look inside."""
