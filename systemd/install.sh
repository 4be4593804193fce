#!/bin/sh
# Installs dealerd for the whole machine: `make install`, or with DESTDIR=/some/root into another root.
#   /opt/dealerd/venv        the program with its locked dependencies; the one before is kept as venv.old
#   /etc/dealerd             table files and keys       (root:dealerd 0750; keys dealerd 0700)
#   /var/lib/dealerd         journals                   (dealerd 0700)
# What is in /etc/dealerd and /var/lib/dealerd is never overwritten. Journals of an older format are upgraded, each
# after a backup.
set -eu

root=${DESTDIR:-}
root=${root%/}
python=${PYTHON:-python3}
source=$(cd "$(dirname "$0")/.." && pwd)
home=/opt/dealerd
state=/var/lib/dealerd
new=$root$home/venv.new

fail() { echo "install: $*" >&2; exit 1; }

if [ -n "$root" ]; then
    case $root in /*) ;; *) fail "DESTDIR $root: give an absolute path" ;; esac
    mkdir -p "$root"
elif [ "$(id -u)" -ne 0 ]; then
    fail "only root may install for the whole machine: sudo make install, or give DESTDIR=/some/root"
fi
"$python" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' 2>/dev/null ||
    fail "$python is older than 3.11 or has no venv: apt-get install python3 python3-venv"

# A running table would go on with half of the new program: it loads some modules only when it needs them.
for journal in "$root$state"/*.journal; do
    [ -e "$journal" ] || continue
    if [ -e "$journal-lock" ] && ! flock --nonblock "$journal-lock" true; then
        fail "the table of $journal runs: end its shift, then: systemctl stop dealerd.target"
    fi
done

echo "install: the program, into $root$home/venv"
rm -rf "$new"
mkdir -p "$root$home"
"$python" -m venv "$new"
"$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes \
    -r "$source/requirements-run.lock"
"$new/bin/python" -m pip install --quiet --disable-pip-version-check --no-compile --no-deps --no-build-isolation "$source"
# Only for building. Nobody installs anything into this folder later.
"$new/bin/python" -m pip uninstall --quiet --yes setuptools pip
"$new/bin/python" -m compileall -q -j 0 -s "$root" "$new/lib" >/dev/null || true
# Scripts and settings name the folder they were made in.
grep -rlIF "$new" "$new/bin" "$new/pyvenv.cfg" | while read -r file; do
    sed -i "s|$new|$home/venv|g" "$file"
done
rm -rf "$root$home/venv.old"
if [ -e "$root$home/venv" ]; then mv "$root$home/venv" "$root$home/venv.old"; fi
mv "$new" "$root$home/venv"
mkdir -p "$root/usr/local/bin"
ln -sfn "$home/venv/bin/dealerd" "$root/usr/local/bin/dealerd"

echo "install: units, rules, users, folders"
put() { # FILE FOLDER [NAME]
    mkdir -p "$root$2"
    install -m 0644 "$source/systemd/$1" "$root$2/${3:-$1}"
}
for unit in dealerd@.service dealerd-camera@.service dealerd-console.service dealerd-alarm@.service dealerd.target; do
    put "$unit" /usr/lib/systemd/system
done
put 70-dealerd.rules /usr/lib/udev/rules.d
put modules-load.conf /usr/lib/modules-load.d dealerd.conf
put sysusers.conf /usr/lib/sysusers.d dealerd.conf
put tmpfiles.conf /usr/lib/tmpfiles.d dealerd.conf
put journald.conf /usr/lib/systemd/journald.conf.d dealerd.conf
rm -rf "$root$home/share"
mkdir -p "$root$home/share"
cp -r "$source/docs/." "$root$home/share/"
cp -r "$source/examples" "$root$home/share/examples"
if [ "$(id -u)" -eq 0 ]; then
    [ -n "$root" ] && mkdir -p "$root/etc" && touch "$root/etc/passwd" "$root/etc/group"
    systemd-sysusers ${root:+--root="$root"} "$root/usr/lib/sysusers.d/dealerd.conf"
    # /run of another root is made when that system starts.
    systemd-tmpfiles --create ${root:+--root="$root" --exclude-prefix=/run} "$root/usr/lib/tmpfiles.d/dealerd.conf"
else
    echo "install: not root, so user and folders are left to systemd-sysusers and systemd-tmpfiles at the next start"
fi

for journal in "$root$state"/*.journal; do
    [ -e "$journal" ] || continue
    owner=$(stat -c %u:%g "$journal")
    "$root$home/venv/bin/python" -m controller.cli journal upgrade "$journal" ||
        fail "$journal is as it was: mend what is said above, then: dealerd journal upgrade $journal
         the program before is in $root$home/venv.old"
    for left in "$journal"*; do chown "$owner" "$left"; done
done

if [ -z "$root" ] && [ -d /run/systemd/system ]; then
    systemctl daemon-reload
    systemctl restart systemd-modules-load.service
    udevadm control --reload
    udevadm trigger --action=add --subsystem-match=tty --subsystem-match=video4linux --subsystem-match=usb
fi
echo "install: done. A table: $home/share/how-to/install.md"
