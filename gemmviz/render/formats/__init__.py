"""The formats of files, one file each."""
