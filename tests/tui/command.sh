#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt, which runs gpurt-X: where it looks, what it passes on, what it says of a wrong name.
# Argument: the program.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin" "$work/path" "$work/later"
cp "$1" "$work/bin/gpurt"
gpurt=$work/bin/gpurt
export PATH=$work/path:$work/later:/usr/bin:/bin

fail() {
    echo "FAIL: $*" >&2
    exit 1
}

# program FILE WORD: a script that tells who it is and what it was given, and ends with 7.
program() {
    printf '#!/bin/sh\nprintf "%%s:" "%s" "$@"\nexit 7\n' "$2" >"$1"
    chmod +x "$1"
}
program "$work/bin/gpurt-top" beside
program "$work/path/gpurt-top" path
program "$work/path/gpurt-mine" path
program "$work/later/gpurt-mine" later
program "$work/path/gpurt-bad name" odd
printf 'no program' >"$work/path/gpurt-plain"
mkdir "$work/path/gpurt-folder"

# expect STATUS OUTPUT ARGUMENT...: exit status and standard output; errors lie in "$work/error".
expect() {
    local status=0 want=$1 output=$2 got
    shift 2
    got=$("$gpurt" "$@" 2>"$work/error") || status=$?
    [ "$status" = "$want" ] || fail "'$*': exit status $status, not $want: $(cat "$work/error")"
    [ "$got" = "$output" ] || fail "'$*': printed '$got', not '$output'"
}
# complains WORDS: one line on standard error that says them.
complains() {
    if [ "$(wc -l <"$work/error")" != 1 ] || ! grep -q -- "$1" "$work/error"; then
        fail "'$1' is not what it says: $(cat "$work/error")"
    fi
}

expect 7 'beside:' top
expect 7 'beside:--once:a b::' top --once 'a b' ''
expect 7 'path:-h:' mine -h
expect 7 'beside:--help:' help top
expect 126 '' plain
complains 'plain: Permission denied'
chmod +x "$work/path/gpurt-plain"
expect 126 '' plain
complains 'Exec format error'
expect 127 '' tpo
complains 'there is no gpurt-tpo; did you mean gpurt top?'
expect 127 '' help mien
complains 'did you mean gpurt mine?'
expect 127 '' completely-else
complains 'there is no gpurt-completely-else; see gpurt list'
expect 127 '' folder
expect 127 '' ../bin/gpurt-top
expect 127 '' $'to\033[31mp'
grep -q $'\033' "$work/error" && fail 'an escape reached the terminal'
expect 125 ''
complains 'say which program'
expect 125 '' --wrong
expect 125 '' help a b
expect 0 "$(printf '  mine       %s\n  plain      %s\n  top        %s' \
    "$work/path/gpurt-mine" "$work/path/gpurt-plain" "$work/bin/gpurt-top")" list
"$gpurt" help | grep >/dev/null '^Usage: gpurt X' || fail 'help'
[ "$("$gpurt" help)" = "$("$gpurt" --help)" ] || fail 'help and --help'
"$gpurt" --man | grep >/dev/null '^\.TH "GPURT" 1' || fail 'the manual page'

# Through a link from elsewhere the programs beside the real one are found.
ln -s "$gpurt" "$work/later/gpurt"
[ "$("$work/later/gpurt" top || true)" = 'beside:' ] || fail 'through a link'

# Signals and streams are the program's own.
printf '#!/bin/sh\ncat\nkill -TERM $$\n' >"$work/path/gpurt-mine"
status=0
got=$(echo through | "$gpurt" mine) || status=$?
[ "$got,$status" = through,143 ] || fail "standard input and a signal: '$got', $status"
echo 'all well'
