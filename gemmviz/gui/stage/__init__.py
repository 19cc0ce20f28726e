"""The page of the stage and its timeline."""
