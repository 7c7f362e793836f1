"""What molecules smell of: flies that answer, how far they can be trusted, and why they say so."""
