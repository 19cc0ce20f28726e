"""A trace replayed step by step: what each moment holds."""
