"""Odor archives of pyrfume-data: one layout, and the quirks of each archive in a table."""
