#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# packages.sh FOLDER: the Debian package and the wheel that lie in FOLDER, each on a machine that has nothing else: a root
# of the packages that it depends on and a shell, without this tree. Skips (77) where no root can be entered.
set -euo pipefail
folder=$(realpath "${1:?usage: packages.sh FOLDER}")
root=$(realpath "$(dirname "${BASH_SOURCE[0]}")/../..")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

say() { printf 'packages: %s\n' "$*"; }
fail() {
    printf 'FAIL: %s\n' "$*" >&2
    exit 1
}
skip() {
    printf 'skipped: %s\n' "$*"
    exit 77
}
one() { # PATTERN: the only file of that name
    local files
    mapfile -t files < <(find "$folder" -maxdepth 1 -name "$1")
    ((${#files[@]} == 1)) || fail "$folder holds ${#files[@]} files $1: one was expected"
    printf '%s\n' "${files[0]}"
}

command -v dpkg-deb >/dev/null || skip 'no dpkg on this machine'
as_root=()
((EUID == 0)) || as_root=(--map-root-user)
unshare "${as_root[@]}" --mount true 2>/dev/null || skip 'no mount namespace for this user'

# closure PACKAGE...: these and all that they depend on, as they are installed here.
closure() {
    local todo=("$@") package
    declare -A seen=()
    while ((${#todo[@]})); do
        package=${todo[0]} todo=("${todo[@]:1}")
        [[ ! ${seen[$package]:-} &&
            $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed* ]] || continue
        seen[$package]=1
        mapfile -t -O "${#todo[@]}" todo < <(dpkg-query -W -f='${Pre-Depends},${Depends}\n' "$package" |
            sed 's/[,|]/\n/g' | sed -n 's/^ *\([a-z0-9.+-]*\).*/\1/p' | grep .)
    done
    printf '%s\n' "${!seen[@]}"
}

# bare_root FOLDER PACKAGE...: the files of these packages, and of those below them.
bare_root() {
    local to=$1 packages name
    mapfile -t packages < <(closure "${@:2}")
    mkdir -p "$to"/{proc,dev,tmp,usr/{bin,sbin,lib,lib64}}
    for name in bin sbin lib lib64; do
        ln -s "usr/$name" "$to/$name"
    done
    dpkg-query -L "${packages[@]}" | grep -v '^/usr/share/\(doc\|man\|locale\)' | sort -u |
        while read -r name; do [[ -d $name && ! -L $name || ! -e $name ]] || printf '%s\n' "${name#/}"; done |
        tar -C / -cf - --no-recursion -T - | tar -C "$to" -xf - --no-same-owner
}

# inside ROOT PATH SCRIPT: bash runs it there.
inside() {
    # shellcheck disable=SC2016 # the inner shell's
    unshare "${as_root[@]}" --mount bash -c 'mount --rbind /proc "$1/proc" && mount --rbind /dev "$1/dev" &&
        exec env -i PATH="$2" HOME=/tmp LC_ALL=C.UTF-8 /usr/sbin/chroot "$1" /bin/bash -euo pipefail -c "$3"' - "$@"
}

# What a user does, with the program that was compiled against the package.
# shellcheck disable=SC2016 # the shell in the root reads it
use='
has() { [[ $1 == *"$2"* ]] || { printf "FAIL: no \"%s\" in:\n%s\n" "$2" "$1" >&2; exit 1; }; }
for program in $programs; do
    has "$(gpurt-$program --version)" "gpurt-$program $version"
    has "$(gpurt help $program)" "Usage: gpurt-$program"
done
cd /tmp
gpurt-record -q -o run.gplog -- ./hello_log
has "$(gpurt-log cat run.gplog)" "hello from block 1 of 2"
has "$(gpurt-top --batch --replay run.gplog)" "hello_log"
GPURT_LOG=own.gplog ./hello_log # begins gpurt-drain
has "$(gpurt-log stat own.gplog)" "hello_log"
gpurt-record -q -o panic.gplog -- ./panic_bounds || true
has "$(gpurt-panic show panic.gplog)" "panic_bounds_kernels.c"
has "$(gpurt-record -q -o none.gplog -- /bin/bash -c "echo \"\${CUDA_INJECTION64_PATH:-}\"")" "$collector"
has "$(gpurt-doctor || true)" "$collector"
source "$share/bash-completion/completions/gpurt-top"
COMP_WORDS=(gpurt-top --rep) COMP_CWORD=1 COMPREPLY=()
_gpurt_program gpurt-top
has " ${COMPREPLY[*]} " " --replay "
'
version=$(sed -n 's/.*define GPURT_VERSION_\(MAJOR\|MINOR\|PATCH\) *\([0-9]*\).*/\2/p' "$root/runtime/include/gpurt/base.h" |
    paste -sd .)

deb=$(one '*.deb')
say "${deb##*/}"
mapfile -t needs < <(dpkg-deb -f "$deb" Depends | sed 's/[,|]/\n/g' | sed 's/^ *\([^ ]*\).*/\1/')
say "depends on ${needs[*]}"
# grep and sed are for the completions, as on any machine where a person types.
bare_root "$work/deb" "${needs[@]}" bash coreutils grep libc-bin sed
dpkg-deb -x "$deb" "$work/deb"
for file in usr/share/man/man1/gpurt-top.1 usr/share/doc/gpurt/copyright usr/include/gpurt/gpurt.h; do
    [[ -e $work/deb/$file ]] || fail "no $file in ${deb##*/}"
done

# The libraries and headers are those of the package. A compiler is not: it stands outside.
export PKG_CONFIG_LIBDIR
PKG_CONFIG_LIBDIR=$(dirname "$(find "$work/deb/usr" -name gpurt.pc)")
for example in hello_log panic_bounds; do
    # shellcheck disable=SC2046 # as a user types it
    cc -std=gnu11 -g -rdynamic "$root/examples/$example.c" "$root/examples/${example}_kernels.c" \
        $(pkg-config --cflags --libs gpurt) -lm -o "$work/deb/tmp/$example"
done
collector=$(find "$work/deb/usr" -name libgpurt-inject.so) # needs a toolkit, when it is built
[[ ! $collector || -e ${collector%/*}/libgpurt-launch.so ]] || fail 'a collector without libgpurt-launch.so beside it'
settings="version=$version collector=${collector##*/}"
inside "$work/deb" /usr/bin "$settings share=/usr/share
    programs='check doctor drain log panic record replay top'; $use"
say 'the Debian package is complete'

wheel=$(one '*.whl')
say "${wheel##*/}"
command -v python3 >/dev/null || skip 'no python3 on this machine'
python3 -m venv "$work/venv" || skip 'python3 makes no venv here (Debian: python3-venv)'
"$work/venv/bin/pip" install --quiet --no-index --disable-pip-version-check "$wheel"
"$work/venv/bin/python" -c 'import importlib.metadata as m, sys
sys.exit(m.version("gpurt") != sys.argv[1])' "$version" || fail "pip knows no gpurt $version"
bare_root "$work/wheel" libc6 bash coreutils grep libc-bin sed
cp -a "$work/venv" "$work/wheel/venv"
cp "$work"/deb/tmp/{hello_log,panic_bounds} "$work/wheel/tmp/"
inside "$work/wheel" /venv/bin:/usr/bin "$settings share=/venv/share
    programs='doctor drain log panic record top'; $use"
"$work/venv/bin/pip" uninstall --quiet --yes gpurt
[[ ! -e $work/venv/bin/gpurt-top ]] || fail 'gpurt-top is there after pip uninstall'
say 'the wheel is complete'
