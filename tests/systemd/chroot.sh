#!/bin/sh
# `make test-install`, as root: a bare Debian in a folder, dealerd installed into it as on a machine of its own, a table
# set up as docs/how-to/install.md says, a simulated one played there by the user dealerd, then installed again over it.
# Takes minutes; needs debootstrap.
set -eu
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d /var/tmp/dealerd-chroot.XXXXXX)
root=$work/root
trap 'umount "$root/proc" "$root/dev/pts" "$root/dev" 2>/dev/null || true; rm -rf --one-file-system "$work"' EXIT INT TERM
say() { echo "test-install: $*"; }
inside() { chroot "$root" env -i PATH=/usr/local/bin:/usr/bin:/usr/sbin:/bin:/sbin LC_ALL=C.UTF-8 PIP_NO_INDEX=1 \
    PIP_FIND_LINKS=/wheels "$@"; }

say "Debian 12 with python3, python3-venv, make and systemd"
debootstrap --variant=minbase --include=python3,python3-venv,make,systemd,udev bookworm "$root" >"$work/log" 2>&1 ||
    { tail -5 "$work/log"; exit 1; }
mount -t proc proc "$root/proc"
mount --bind /dev "$root/dev"
mount --bind /dev/pts "$root/dev/pts"
say "the locked packages, fetched beforehand: the installation itself asks no network"
python3 -m pip download --quiet --no-deps --require-hashes -r "$source/requirements-run.lock" -d "$root/wheels"
mkdir "$root/src"
(cd "$source" && git ls-files -z | tar --null -T - -cf -) | tar -xf - -C "$root/src"

say "make install"
inside make -s -C /src install
inside dealerd --version
test "$(inside stat -c '%U:%G %a' /etc/dealerd)" = "root:dealerd 750"
test "$(inside stat -c '%U:%G %a' /etc/dealerd/keys)" = "dealerd:dealerd 700"
test "$(inside stat -c '%U:%G %a' /var/lib/dealerd)" = "dealerd:dealerd 700"
inside systemd-analyze verify dealerd@bb-1.service dealerd-alarm@bb-1.service dealerd.target
as_dealerd() { inside setpriv --reuid dealerd --regid dealerd --init-groups env HOME=/var/lib/dealerd "$@"; }

say "what docs/how-to/install.md has people do: table file, keys, doctor, screens"
inside install -m 0640 -g dealerd /opt/dealerd/share/examples/boundless.toml /etc/dealerd/bb-1.toml
as_dealerd dealerd keys server /etc/dealerd/keys/bb-1
for who in "supervisor anna" "supervisor olga" "dealer ben" "game_server platform" "observer console"; do
    as_dealerd dealerd keys person /etc/dealerd/keys/bb-1 $who
done
as_dealerd dealerd run /etc/dealerd/bb-1.toml --check
as_dealerd dealerd doctor /etc/dealerd/bb-1.toml >"$work/doctor" || true
grep -E '^(failure|1 failure)' "$work/doctor" # the shoe, which is not there, and nothing else
test "$(grep -c '^failure' "$work/doctor")" = 1
grep -q '^failure  shoe ' "$work/doctor"
inside install -m 0640 -g dealerd /opt/dealerd/share/examples/floor.toml /etc/dealerd/floor.toml
as_dealerd dealerd console /etc/dealerd/floor.toml --check
as_dealerd sh -euc '
    log=/var/lib/dealerd/console.log
    dealerd console /etc/dealerd/floor.toml >$log 2>&1 &
    until grep -q "log on as admin with the password" $log; do
        kill -0 $! 2>/dev/null || { cat $log; exit 1; }
        sleep 0.2
    done
    kill $!
    wait $! || true'
test "$(inside stat -c '%U:%G %a' /var/lib/dealerd/console)" = "dealerd:dealerd 700"

say "a simulated table, played by the user dealerd"
as_dealerd dealerd demo --game baccarat --rounds 5 --speed 0 --json --folder /var/lib/dealerd/evening | tail -1
as_dealerd cp /var/lib/dealerd/evening/table.journal /var/lib/dealerd/bb-1.journal
inside sh -c 'echo "# mine" >> /etc/dealerd/bb-1.toml'
before=$(as_dealerd dealerd journal verify --json /var/lib/dealerd/bb-1.journal)

say "make install again, over it"
inside make -s -C /src install
test "$before" = "$(as_dealerd dealerd journal verify --json /var/lib/dealerd/bb-1.journal)"
test "$(inside tail -1 /etc/dealerd/bb-1.toml)" = "# mine"
test "$(inside stat -c '%U:%G %a' /var/lib/dealerd/bb-1.journal)" = "dealerd:dealerd 600"
test -x "$root/opt/dealerd/venv.old/bin/dealerd"
say "good: $(du -sh --exclude=wheels "$root/opt/dealerd/venv" | cut -f1) in /opt/dealerd/venv"
