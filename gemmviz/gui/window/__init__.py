"""The main window and its docks, menus, banner and status line."""
