"""Costs of memory requests: sectors, bank conflicts, and counts per launch."""
