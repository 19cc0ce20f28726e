"""The benchmark page with its plots."""
