"""Scripts that run on a machine that is enlisted, in any POSIX shell; arguments are `$1`, `$2`.

None of them needs more than the shell, Python for the file, and the usual small programs.
"""

from __future__ import annotations

from typing import Final

_BEGIN: Final = r"""
set -eu
umask 077
cd
case $1 in /*) dir=$1 ;; *) dir=$HOME/$1 ;; esac
file=$dir/update/gossamer-unit.pyz
name=gossamer-unit
service=$HOME/.config/systemd/user/$name.service
mark="# $name $dir"
has_systemd() {
    export XDG_RUNTIME_DIR="${XDG_RUNTIME_DIR:-/run/user/$(id -u)}"
    command -v systemctl >/dev/null 2>&1 && systemctl --user show-environment >/dev/null 2>&1
}
"""

# directory, version of Python: what is there, as NAME=VALUE lines
LOOK: Final = (
    _BEGIN
    + r"""
if [ -e "$dir/unit.json" ]; then echo unit=yes
elif [ -d "$dir" ] && [ -n "$(ls -A "$dir")" ]; then echo unit=other; fi
for one in "python$2" python3; do
    path=$(command -v "$one" 2>/dev/null) || continue
    facts=$("$path" -I -c 'import sys, sysconfig
print("%d.%d" % sys.version_info[:2], sysconfig.get_platform())' 2>/dev/null) || continue
    echo "python:$path=$facts"
done
"""
)

# directory, interpreter, SHA-256; the file on stdin
COPY: Final = (
    _BEGIN
    + r"""
mkdir -p "$dir/update"
cat > "$file.new"
found=$("$2" -I -c 'import hashlib, sys
print(hashlib.sha256(open(sys.argv[1], "rb").read()).hexdigest())' "$file.new")
[ "$found" = "$3" ] || { echo "the file was changed on the way" >&2; exit 1; }
chmod 700 "$file.new"
mv "$file.new" "$file"
printf '%s\n' "$2" > "$dir/update/python"
"""
)

# directory, interpreter, address of the hub; the code on stdin
JOIN: Final = (
    _BEGIN
    + r"""
exec "$2" "$file" unit join "$3" - -d "$dir" 2>&1
"""
)

# directory, interpreter; says how it was started
START: Final = (
    _BEGIN
    + r"""
if has_systemd; then
    mkdir -p "$HOME/.config/systemd/user"
    {
        echo "$mark"
        echo "[Unit]"
        echo "Description=Gossamer crawler unit"
        echo "[Service]"
        echo "ExecStart=\"$2\" \"$file\" unit run --quiet -d \"$dir\""
        echo "Restart=on-failure"
        echo "RestartSec=30"
        echo "Nice=10"
        echo "TimeoutStopSec=120"
        echo "[Install]"
        echo "WantedBy=default.target"
    } > "$service"
    systemctl --user daemon-reload
    systemctl --user --quiet enable --now "$name"
    if loginctl enable-linger >/dev/null 2>&1; then echo systemd; else echo systemd-session; fi
    exit 0
fi
how=nohup
if command -v crontab >/dev/null 2>&1; then
    lines=$(crontab -l 2>/dev/null || true)
    line="@reboot \"$2\" \"$file\" unit run --quiet -d \"$dir\" >/dev/null 2>&1 $mark"
    if { [ -z "$lines" ] || printf '%s\n' "$lines"; printf '%s\n' "$line"; } | crontab - 2>/dev/null
    then how=cron; fi
fi
nohup nice -n 10 "$2" "$file" unit run --quiet -d "$dir" </dev/null >/dev/null 2>&1 &
echo "$how"
"""
)

# directory
REMOVE: Final = (
    _BEGIN
    + r"""
if [ -e "$service" ] && head -n 1 "$service" | grep -qxF "$mark"; then
    if has_systemd; then systemctl --user --quiet disable --now "$name" || true; fi
    rm -f "$service"
    if has_systemd; then systemctl --user daemon-reload || true; fi
    rmdir "$HOME/.config/systemd/user" "$HOME/.config/systemd" "$HOME/.config" 2>/dev/null || true
fi
if command -v crontab >/dev/null 2>&1 && lines=$(crontab -l 2>/dev/null); then
    if printf '%s\n' "$lines" | grep -qF "$mark"; then
        rest=$(printf '%s\n' "$lines" | grep -vF "$mark" || true)
        if [ -n "$rest" ]; then printf '%s\n' "$rest" | crontab -; else crontab -r; fi
    fi
fi
if [ -e "$file" ] && [ -e "$dir/unit.json" ]; then
    python=$(cat "$dir/update/python" 2>/dev/null || echo python3)
    "$python" "$file" unit delete --yes -d "$dir" >&2 || true
fi
if [ -e "$file" ] || [ -e "$file.new" ]; then rm -rf "$dir/update"; fi
rmdir "$dir" 2>/dev/null || true
if [ -e "$dir" ]; then echo left; else echo gone; fi
"""
)
