"""A run under way for the live view: frames of S and W, and curves in step with them."""
