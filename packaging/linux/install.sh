#!/bin/sh
# Installs gemmviz @VERSION@ for this user, or below another folder: sh gemmviz.run [--prefix FOLDER] [--remove]
set -eu
prefix="$HOME/.local"
remove=
while [ $# -gt 0 ]; do
    case "$1" in
        --prefix) prefix="${2:?--prefix needs a folder}"; shift 2 ;;
        --remove) remove=yes; shift ;;
        *) echo "usage: sh $0 [--prefix FOLDER] [--remove]" >&2; exit 2 ;;
    esac
done
tell_the_desktop() {
    update-mime-database "$prefix/share/mime" 2> /dev/null || true
    update-desktop-database "$prefix/share/applications" 2> /dev/null || true
}
list="$prefix/lib/gemmviz/installed-files"
if [ -n "$remove" ]; then
    [ -f "$list" ] || { echo "gemmviz is not installed in $prefix" >&2; exit 1; }
    while IFS= read -r file; do rm -f "$prefix/$file"; done < "$list"
    rm -rf "$prefix/lib/gemmviz"
    tell_the_desktop
    echo "Removed gemmviz from $prefix"
    exit 0
fi
command -v xz > /dev/null || { echo "This needs xz: install the package xz-utils (Fedora, Arch: xz)" >&2; exit 1; }
mkdir -p "$prefix"
rm -rf "$prefix/lib/gemmviz"
tail -n +@LINES@ "$0" | xz -d | tar -x -C "$prefix"
tell_the_desktop
echo "Installed $prefix/bin/gemmviz"
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "$prefix/bin is not in PATH" ;; esac
exit 0
