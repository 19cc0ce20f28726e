#!/bin/sh
set -e
if command -v update-mime-database > /dev/null; then update-mime-database /usr/share/mime; fi
if command -v update-desktop-database > /dev/null; then update-desktop-database -q; fi
if command -v gtk-update-icon-cache > /dev/null; then gtk-update-icon-cache -q -t -f /usr/share/icons/hicolor || true; fi
