"""Parts of the stage: matrices, tiles, registers, motion, legend."""
