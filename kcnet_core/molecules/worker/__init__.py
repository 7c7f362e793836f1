"""Everything that imports RDKit, and nothing that talks to it: it runs in processes of its own."""
