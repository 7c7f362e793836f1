"""Every table and figure of the paper as data, and the engine that measures them."""
