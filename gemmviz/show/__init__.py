"""What is shown, as one value, and everything that happens to it; without Qt."""
