"""Every format that gemmviz reads from disk or writes there."""
