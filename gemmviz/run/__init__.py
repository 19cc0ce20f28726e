"""Executors: what turns a kernel and its settings into a trace."""
