"""Ridge beyond one readout: labels that inform each other."""
