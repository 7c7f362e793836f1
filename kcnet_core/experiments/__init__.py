"""Split, train, measure: what Train and Compare do."""
