#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a kernel's log call to the file, by the example programs: what the environment switches on and off.
# Argument: folder of the programs.
set -euo pipefail
bin=$1
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_POLICY GPURT_RING_BYTES GPURT_OFF
export GPURT_BACKEND=cpu

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
field() { "$bin/gpurt-log" stat --json "$2" | sed -n "s/.*\"$1\":\([0-9]*\).*/\1/p"; }
# same WANT GOT WHAT
same() { [ "$1" = "$2" ] || fail "$3: '$2', not '$1'"; }
messages() { "$bin/gpurt-log" cat --jsonl "$1" | sed 's/.*"msg":"\(.*\)"}$/\1/' | sort; }
hello='hello from block 0 of 2
hello from block 1 of 2
hello from the host, 2 blocks ahead
thread 10 knows the answer: 42'

# Under a recorder: just what was logged, and the program's own status.
"$bin/gpurt-record" -q -o a.gplog -- "$bin/hello_log" >/dev/null
same "$hello" "$(messages a.gplog)" 'recorded'
same 4 "$(field records a.gplog)" 'records'
same 0 "$(field dropped a.gplog)" 'dropped'
same 0 "$(field panics a.gplog)" 'panics'
same 1 "$("$bin/gpurt-log" cat --level warn a.gplog | wc -l)" 'warnings'

# Without one, into GPURT_LOG; the second run goes on behind the first.
GPURT_LOG=b.gplog "$bin/hello_log" >/dev/null
same "$hello" "$(messages b.gplog)" 'GPURT_LOG'
GPURT_LOG=b.gplog "$bin/hello_log" >/dev/null
same 8 "$(field records b.gplog)" 'two runs'
"$bin/gpurt-log" verify b.gplog >/dev/null || fail 'verify'

# GPURT_LOG=stderr: all of it on standard error when the program has ended, and no file; its own output is untouched.
GPURT_LOG=stderr "$bin/hello_log" 2>live >own
same "$hello" "$(sed 's/.*[a-z_]\.c:[0-9]*  //' live | sort)" 'GPURT_LOG=stderr'
same "$(GPURT_OFF=1 "$bin/hello_log")" "$(cat own)" 'the output of a program that is printed'
grep -Eq '^[0-9:.]{18} WARN  dev0 sm[0-9]+ +b1 +w0 +00000400 hello_log_kernels.c:[0-9]+  thread 10' live || fail "its lines: $(cat live)"
[ ! -e stderr ] || fail 'a log called stderr'
GPURT_LOG=stderr "$bin/hello_log" >/dev/null 2>/dev/full || fail 'standard error that takes nothing'
if GPURT_LOG=stderr "$bin/panic_bounds" 2>&1 >/dev/null | grep 'panic_bounds, block' | grep -q 'gpurt-panic show stderr'; then
    fail 'a panic names a log that is none'
fi

# Levels, sizes, off; and what does not work is told without failing the program.
GPURT_LEVEL=debug "$bin/gpurt-record" -q -o c.gplog -- "$bin/hello_log" >/dev/null
same 68 "$(field records c.gplog)" 'GPURT_LEVEL=debug'
GPURT_LEVEL=trace "$bin/gpurt-record" -q -o t.gplog -- "$bin/hello_log" >/dev/null
same 69 "$(field records t.gplog)" 'GPURT_LEVEL=trace: one launch more'
"$bin/gpurt-log" cat t.gplog | grep >/dev/null 'launch hello_log at .*examples/hello_log.c:[0-9]*, grid 2,1,1 block 32,1,1, 0 B shared, .*number 1' ||
    fail "a launch: $("$bin/gpurt-log" cat t.gplog | grep launch)"
GPURT_LEVEL=error "$bin/gpurt-record" -q -o d.gplog -- "$bin/hello_log" >/dev/null
same 0 "$(field records d.gplog)" 'GPURT_LEVEL=error'
GPURT_RING_BYTES=1024 "$bin/gpurt-record" -q -o e.gplog -- "$bin/log_storm" 16 256 20 >/dev/null
same 81920 "$(($(field records e.gplog) + $(field dropped e.gplog)))" 'records and losses'
GPURT_OFF=1 GPURT_LOG=off.gplog "$bin/hello_log" >/dev/null
[ ! -e off.gplog ] || fail 'GPURT_OFF=1 wrote a log'
GPURT_POLICY=block GPURT_RING_BYTES=1024 "$bin/gpurt-record" -q -o f.gplog -- "$bin/log_storm" 16 256 20 >/dev/null
same 81920 "$(field records f.gplog)" 'GPURT_POLICY=block'
same 0 "$(field dropped f.gplog)" 'GPURT_POLICY=block: dropped'
GPURT_POLICY=overwrite GPURT_RING_BYTES=1024 "$bin/gpurt-record" -q -o g.gplog -- "$bin/log_storm" 16 256 20 >/dev/null
same 81920 "$(($(field records g.gplog) + $(field dropped g.gplog)))" 'GPURT_POLICY=overwrite'
for wrong in GPURT_LOG=/nonexistent/x GPURT_LEVEL=nix GPURT_POLICY=wait GPURT_RING_BYTES=many; do
    out=$(env GPURT_LOG=wrong.gplog "$wrong" "$bin/hello_log") || fail "$wrong: the program failed"
    [[ $out == *'no log: '* ]] || fail "$wrong: not told: $out"
done
out=$(GPURT_LOG=wrong.gplog GPURT_RING_BYTES=99999999999999 "$bin/hello_log") || fail 'a large ring: the program failed'
[[ $out == *'from 1 to 4294967295'* ]] || fail "a large ring: $out"
out=$(GPURT_DRAIN=nobody "$bin/hello_log") || fail 'a drainer that is gone: the program failed'
[[ $out == *'no log: the drainer'* ]] || fail "a drainer that is gone: $out"

# A program without a free descriptor: what it lacks is told by the recorder, too. 3 is the box:
# what runs this script may have left it open.
status=0
exec 3>&-
(ulimit -n 4 && "$bin/hello_log") >out 2>&1 || status=$?
if [ "$status" = 0 ]; then # a sanitizer needs more to begin
    "$bin/gpurt-record" -o none.gplog -- sh -c "ulimit -n 4; exec '$bin/hello_log'" >out 2>&1 || status=$?
    same 125 "$status" 'a program without descriptors'
    grep -q '^gpurt-record: none.gplog is not whole: .*raise ulimit -n' out || fail "a program without descriptors: $(cat out)"
fi

# A panic: told, and the other blocks go on.
"$bin/gpurt-record" -q -o p.gplog -- "$bin/panic_bounds" >/dev/null
same 2 "$(field panics p.gplog)" 'panics'
"$bin/gpurt-panic" list p.gplog | grep >/dev/null 'panic_bounds_kernels.c:12 *index 96 of 96' || fail 'gpurt-panic list'
"$bin/gpurt-panic" list --json p.gplog | grep >/dev/null '"panics"' || fail 'gpurt-panic list --json'
"$bin/gpurt-panic" show 2 p.gplog | grep >/dev/null 'index 96 of 96' || fail 'gpurt-panic show'
same 8 "$("$bin/gpurt-log" cat p.gplog | grep -c 'begins at')" 'blocks'

# Ends as the program ends.
status=0
"$bin/gpurt-record" -q -o q.gplog -- "$bin/log_storm" 1 9999 1 2>/dev/null || status=$?
same 1 "$status" 'status'
status=0
"$bin/gpurt-drain" -p 1 -o r.gplog 2>/dev/null || status=$?
same 1 "$status" 'gpurt-drain of a process without a box'
status=0
"$bin/gpurt-drain" 2>/dev/null || status=$?
same 2 "$status" 'gpurt-drain without a process'
echo 'all well'
