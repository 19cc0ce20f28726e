"""The actions of the window, one module for each menu."""
