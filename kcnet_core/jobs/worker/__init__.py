"""The process beside the server that makes the steps of a run, and how the two talk."""
