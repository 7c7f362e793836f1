"""One sample through the circuit, experiments for a class, and lesson files."""
