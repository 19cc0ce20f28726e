"""The main window and what frames it: docks, menus, banner, status line."""
