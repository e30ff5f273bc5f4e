#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What scripts rely on: names of fields, their order, that all programs say the same of one log, and that nothing in a
# log steers a terminal. Arguments: folder of the programs, of the test programs.
set -euo pipefail
bin=$1 tests=$2
readme=$(realpath "${BASH_SOURCE[0]%/*}/../../README.md")
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"
export TZ=UTC LC_ALL=C.UTF-8 XDG_RUNTIME_DIR=$dir
unset GPURT_DRAIN GPURT_LOG

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
# same WANT GOT WHAT
same() { [ "$1" = "$2" ] || fail "$3: '$2', not '$1'"; }
# keys: names of the fields of the first JSON object on standard input, in their order.
keys() { head -n 1 | jq -r 'keys_unsorted | join(" ")'; }

"$tests/make_log" run.gplog 40000 200000 3 1000 # 40 frames: more than a cursor merges at once

same 'records dropped sites panics frames torn_frames bytes first_ns last_ns back_end device programs' \
    "$("$bin/gpurt-log" stat --json run.gplog | keys)" 'gpurt-log stat --json'
"$bin/gpurt-log" cat --jsonl run.gplog >lines
same 'ts_ns level pid device back_end sm slot block warp lanes file line kind msg' "$(keys <lines)" 'gpurt-log cat --jsonl'
same "$(jq -r '.kind + .back_end' lines | sort -u | wc -l)" "$(jq -r '[.kind, .back_end] + keys_unsorted | join(" ")' lines | sort -u | wc -l)" 'all lines of a kind and a back end have the same fields'
same 'schema version panics sites sources' "$("$bin/gpurt-panic" list --json run.gplog | keys)" 'gpurt-panic list --json'
same 'number kind count first_ns last_ns category pid program processes file line module format msg' \
    "$("$bin/gpurt-panic" list --json run.gplog | jq -c '.sites[0]' | keys)" 'a site of gpurt-panic list'
same "schema state program pid host back_end device time_ns first_ns last_ns records dropped panics sites rows \
per_second dropped_per_second levels losses devices site_list panic_list" \
    "$("$bin/gpurt-top" --once --json --replay run.gplog | keys)" 'gpurt-top --once --json'

# What README.md says to type for a log, as it stands there.
# shellcheck disable=SC2016
sed -n '/^```$/,/^```$/s/^gpurt-.* run\.gplog .*#/&/p' "$readme" | sed '/^gpurt-record/d' >typed
[ "$(wc -l <typed)" = 5 ] || fail "commands of README.md: $(cat typed)"
PATH=$bin:$PATH bash -euo pipefail typed >said 2>&1 </dev/null || fail "README.md: $(tail -n 3 said)"
[ -s run.pftrace ] || fail 'README.md: no timeline'

# Three programs count one log.
records=$("$bin/gpurt-log" stat --json run.gplog | jq .records)
same "$records" "$(grep -vc '"level":"LOST"' lines)" 'lines and records'
same "$records" "$("$bin/gpurt-top" --once --json --replay run.gplog | jq .records)" 'gpurt-top and gpurt-log'
panics=$("$bin/gpurt-log" stat --json run.gplog | jq .panics)
[ "$panics" -gt 1 ] || fail "a log with $panics panics"
same "$panics" "$("$bin/gpurt-panic" list --json run.gplog | jq .panics)" 'gpurt-panic and gpurt-log'

# The last lines, whatever lies between them.
"$bin/gpurt-log" cat run.gplog >all
same 7 "$("$bin/gpurt-log" tail -n 7 run.gplog | grep -vc ' LOST ')" 'tail'
same "$(grep ' ERROR ' all | tail -n 5)" \
    "$("$bin/gpurt-log" tail -n 5 --level error run.gplog | grep ' ERROR ')" 'the last errors'
same "$panics" "$("$bin/gpurt-log" tail -n 1000 --level panic run.gplog | grep -c ' PANIC ')" 'fewer than asked for'
same "$(tail -n 1 all)" "$("$bin/gpurt-log" tail -n 1 run.gplog | tail -n 1)" 'the last one'
# Times of text are local.
first=$(TZ=UTC-5 "$bin/gpurt-log" cat run.gplog | head -n 1 || true)
same "$(printf '%02d' $(((10#$(head -n 1 all | cut -c1-2) + 5) % 24)))" "${first:0:2}" 'local time'

# Nothing but text leaves for a terminal.
"$bin/gpurt-panic" show run.gplog >report
"$bin/gpurt-log" stat run.gplog >sums
for file in all lines report sums; do
    LC_ALL=C grep -q $'[\001-\010\013-\037\177]' "$file" && fail "control characters in $file"
done
grep -Fq 'session name \x1b[31mred' all || fail 'escapes are shown'
for command in 'log cat' 'panic list' 'top -b --replay' 'record -o new --'; do
    read -ra words <<<"$command"
    "$bin/gpurt" "${words[@]}" $'no\033[31msuch\nfile' 2>errors >/dev/null && fail "gpurt $command of nothing"
    same 1 "$(wc -l <errors)" "lines of gpurt $command"
    grep -q $'\033' errors && fail "gpurt $command: an escape"
    grep -Fq 'No such file or directory' errors || fail "gpurt $command: $(cat errors)"
done
[ ! -e new ] || fail 'a log of a program that never ran'

# Help fits a screen of 80 columns. So does the manual page, whose text is indented by 7: it does not break literal lines.
for program in gpurt gpurt-{check,doctor,drain,log,panic,record,replay,top}; do
    [ -x "$bin/$program" ] || continue
    same '' "$("$bin/$program" --help | awk 'length > 79')" "wide lines of $program --help"
    same '' "$("$bin/$program" --man | sed -e 's/\\\([e&-]\|(aq\)/./g' |
        awk '/^\.nf/ { on = 1 } /^\.fi/ { on = 0 } on && length > 72')" "wide lines of $program --man"
    # Folders of the sources are nowhere on a machine that has the programs alone.
    same '' "$("$bin/$program" --help | grep 'docs/' || true)" "pages of $program --help"
done

# Wrong use says what is right, in one line.
says() { # WORDS COMMAND...
    local status=0
    "$bin/${2}" "${@:3}" >/dev/null 2>errors </dev/null || status=$?
    [ "$status" -ge 1 ] || fail "'${*:2}' worked"
    same 1 "$(wc -l <errors)" "lines of '${*:2}'"
    grep -Fq -- "$1" errors || fail "'${*:2}' says $(cat errors), not $1"
}
says 'did you mean --replay?' gpurt-top --relpay x
says 'did you mean tail?' gpurt-log tial run.gplog
says 'cat wants one file' gpurt-log cat
says 'start it with GPURT_LOG=FILE' gpurt-top -b -p 1
says 'No such process' gpurt-top -b -p 4294967295
says '--record is for a PROGRAM only' gpurt-top -b --record x --replay run.gplog
says 'choose another file' gpurt-top -b --record run.gplog -- true
says 'choose another file' gpurt-record -o run.gplog -- true
says 'there is no panic 99' gpurt-panic show run.gplog 99
says 'there is no panic 0' gpurt-panic show 0 run.gplog
says 'there is no panic 0' gpurt-panic show run.gplog 0
says "none of $panics panics fits --filter" gpurt-panic show -F nosuchword run.gplog
says 'choose another file' gpurt-log repair run.gplog -o lines
says 'lines is not a gpurt log' gpurt-record -a -o lines -- true
says './- is a file of that name' gpurt-log repair run.gplog -o -
says './- is a file of that name' gpurt-record -o - -- true
[ ! -e ./- ] || fail 'a log called -'
says "'off' goes with no other word" gpurt-record --cupti off,kernels -o new -- true
says "'bogus': say trace" gpurt-log level -p 1 bogus
status=0
"$bin/gpurt-log" level -p 1 bogus 2>errors || status=$?
same 2 "$status" 'rules that are none'
status=0
"$bin/gpurt-record" -o /dev/stdout -- true >mixed 2>errors || status=$?
same 125 "$status" 'a log into standard output'
grep -q '^gpurt-record: /dev/stdout is where standard output' errors || fail "a log into standard output: $(cat errors)"
same 0 "$(stat -c %s mixed)" 'bytes of a log into standard output'
says 'run.gplog has no process 99; it has llm_serve[41231]' gpurt-log cat -p 99 run.gplog
says 'run.gplog has no process 99; it has llm_serve[41231]' gpurt-log tail -p 99 run.gplog
says '--color=pink: auto, always or never' gpurt-log cat --color=pink run.gplog
# What a command does not heed it refuses by its name.
says '-p is for cat, tail or level only' gpurt-log stat -p 41231 run.gplog
says '--level is for cat or tail only' gpurt-log stat --level warn run.gplog
says '-n is for tail only' gpurt-log stat -n 3 run.gplog
says '--json is for stat or lines only' gpurt-log verify --json run.gplog
says '-n is for show only' gpurt-panic list -n 2 run.gplog
says '--whole is for watch only' gpurt-panic show --whole run.gplog
says '--json is for list, show, watch or diff only' gpurt-panic export --sarif --json run.gplog
says '-p is for list, show, watch or export only' gpurt-panic diff -p 1 run.gplog run.gplog
says '--play is for --replay FILE only' gpurt-top --play -- true
says '--gpu-core is for a PROGRAM only' gpurt-top -b --gpu-core --replay run.gplog
says '-n is for several pictures (not -1) only' gpurt-top -1 -n 2 --replay run.gplog
says '-d is for the screen or several pictures of what runs (not --replay) only' gpurt-top -b -d 2s --replay run.gplog
says '-d is for the screen or several pictures of what runs (not --replay) only' gpurt-top -1 -d 2s -- true
says '--granule is for first, best or worst only' gpurt-replay --granule 64 run.gplog
says '--granule is for first, best or worst only' gpurt-replay -p pools,arena --granule 64 run.gplog
says '--shards is for heap, cheap, full, pools or arena only' gpurt-replay --policy best --shards 2 run.gplog
says '--spread is for heap, cheap, full, pools or arena only' gpurt-replay --policy best --spread 2 run.gplog
says '--run-chunks is for heap, cheap, full, pools or arena only' gpurt-replay --policy best --run-chunks 2 run.gplog
says '--piece is for arena only' gpurt-replay --policy heap,best --piece 64 run.gplog
says 'the log holds no calls of a heap' gpurt-replay --policy best,arena --granule 64 --piece 64 --shards 2 run.gplog
says '-F is for the screen or pictures (not --json) only' gpurt-top --json -F x --replay run.gplog
says '--first is for several seeds (not --seed) only' gpurt-check --seed 3 --first 2 -- true
says '-o is for a log only' gpurt-drain --print -p 1 -o x
same '' "$("$bin/gpurt-log" tail -n 0 run.gplog)" 'the last no lines'
says '--folded and --json exclude each other' gpurt-log lines --folded --json run.gplog
says '--speedscope and --json exclude each other' gpurt-log lines --speedscope --json run.gplog
says '--folded and --speedscope exclude each other' gpurt-log lines --folded --speedscope run.gplog
says '--code and --folded exclude each other' gpurt-log lines --code /bin/true --folded run.gplog
says '--code and --speedscope exclude each other' gpurt-log lines --speedscope --code /bin/true run.gplog
# Colours: as asked for, else on a terminal alone; what device code wrote stays spelled out.
"$bin/gpurt-log" cat --color=always run.gplog >colours
same "$(sed $'s/\033\\[[0-9;]*m//g' colours | cmp - all && echo same)" same 'text under its colours'
grep -q $'\033\\[33mWARN \033\\[0m' colours || fail "colours: $(grep -m1 WARN colours | cat -v)"
grep -Fq 'session name \x1b[31mred' colours || fail 'escapes are shown in colour'
says 'is not a gpurt log' gpurt-log stat lines

# A pager that cannot move the cursor asks for Return first; one that fails has shown less than all.
typed() { # COMMAND...: on a terminal
    local status=0
    timeout 60 script -qec "${*@Q}" /dev/null </dev/null >screen 2>&1 || status=$?
    return "$status"
}
if command -v script >/dev/null; then
    TERM=dumb PAGER='sed s/^/paged/' typed "$bin/gpurt-log" cat run.gplog || fail 'a dumb terminal'
    grep -q paged screen && fail 'a pager on a dumb terminal'
    TERM=dumb GPURT_PAGER='sed s/^/paged/' typed "$bin/gpurt-log" cat run.gplog || fail 'a dumb terminal by choice'
    grep -q paged screen || fail 'no pager on a dumb terminal where it is asked for'
    TERM=xterm PAGER='(' typed "$bin/gpurt-log" cat run.gplog && fail 'a pager that is no command'
    grep -Fq "the pager '(' ended with status 2" screen || fail "a pager that is no command: $(head -n 3 screen)"
fi

# Standard output that takes nothing is told of, in one line, by every program that prints there.
full() { # COMMAND...
    local status=0
    "$bin/$1" "${@:2}" >/dev/full 2>errors </dev/null || status=$?
    [ "$status" -ge 1 ] || fail "'$*' into a full device worked"
    same 1 "$(grep -c 'cannot write to standard output' errors)" "lines of '$*' into a full device"
}
for command in 'doctor' 'log stat run.gplog' 'panic list run.gplog' "check -n 2 -- $bin/hello_log"; do
    read -ra words <<<"$command"
    status=0
    "$bin/gpurt-${words[0]}" "${words[@]:1}" 2>errors </dev/null >&- || status=$?
    [ "$status" -ge 1 ] || fail "'$command' without standard output worked"
    same 1 "$(grep -c 'cannot write to standard output' errors)" "lines of '$command' without standard output"
done
for command in 'log cat run.gplog' 'log tail run.gplog' 'log stat run.gplog' 'log verify run.gplog' \
    'log export --to jsonl -o - run.gplog' 'panic list run.gplog' 'panic diff run.gplog run.gplog' \
    'top -1 --replay run.gplog' 'top --json --replay run.gplog' 'record --help' 'drain --version'; do
    read -ra words <<<"$command"
    full "gpurt-${words[0]}" "${words[@]:1}"
done
full gpurt list
"$bin/gpurt-top" --json -n 4000 --replay run.gplog 2>errors | head -c 1 >head.out || true # a reader that has had enough
same '' "$(cat errors)" 'a reader that left'
echo 'all well'
