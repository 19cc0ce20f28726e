"""Forms for the setup, the focus and the engine."""
