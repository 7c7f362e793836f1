"""Names that stand for molecules: how they are spelled, our table of them, and looking them up."""
