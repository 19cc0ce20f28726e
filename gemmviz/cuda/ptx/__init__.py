"""The text of an asm statement to typed nodes: a closed subset of PTX."""
