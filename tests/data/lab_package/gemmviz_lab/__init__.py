"""One extension of each kind, as another package brings them."""
