#!/bin/sh
# Tries this commit on Debian 13 (Python 3.13), from a clean clone, as root:
#
#     tools/try_debian13.sh FOLDER MIRROR [COMMAND...]
#
# FOLDER is where that Debian lives; it is made by debootstrap from the package MIRROR if it is not there yet (minutes, 1 GB).
# COMMAND is run in the clone, `make run test` if none is given. Mounts belong to this process alone: they go when it ends, however.
set -eu

if [ $# -lt 2 ]; then
    sed -n '2,7s/^# \{0,1\}//p' "$0"
    exit 2
fi
if [ "${FOOTFALL_TRY_INSIDE:-}" != yes ]; then
    FOOTFALL_TRY_INSIDE=yes exec unshare --mount --propagation private "$0" "$@"
fi
folder=$1 mirror=$2
shift 2
[ $# -gt 0 ] || set -- make run test
source=$(git -C "$(dirname "$0")" rev-parse --show-toplevel)

[ -x "$folder/usr/bin/python3" ] ||
    debootstrap --variant=minbase --include=python3,python3-venv,make,g++,git trixie "$folder" "$mirror"

# pip and the resolver as they are here, with every file and folder that pip's settings name (of an index, its files lie beside it).
cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
mkdir -p "$folder/root/.config/pip"
for settings in /etc/pip.conf "$HOME/.config/pip/pip.conf"; do
    to=$(echo "$settings" | sed "s|^$HOME/|/root/|")
    if [ -f "$settings" ]; then cp -L "$settings" "$folder$to"; else rm -f "$folder$to"; fi
done
{ cat /etc/pip.conf "$HOME/.config/pip/pip.conf" 2>/dev/null || true; env | grep '^PIP_' || true; } |
    grep -o '/[A-Za-z0-9_./-]*' | sed 's|^/*|/|; s|/simple/*$||' | sort -u | while read -r named; do
    if [ -d "$named" ] && [ "$named" != / ]; then
        mkdir -p "$folder$named" && mount --bind -o ro "$named" "$folder$named"
    elif [ -f "$named" ]; then
        mkdir -p "$folder$(dirname "$named")" && cp -L "$named" "$folder$named"
    fi
done
mount --bind /proc "$folder/proc"
mount --rbind /dev "$folder/dev"  # with its pseudo-terminals and shared memory

rm -rf "$folder/root/footfall"
git clone --quiet "$source" "$folder/root/footfall"
chroot "$folder" sh -c 'python3 --version; cd /root/footfall && git log -1 --oneline && exec env HOME=/root "$@"' try "$@"
