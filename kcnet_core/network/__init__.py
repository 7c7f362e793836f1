"""The paper's circuit and its estimators: arrays in, arrays out."""
