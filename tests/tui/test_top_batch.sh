#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-top without a terminal: pictures, JSON, exit codes, streams and signals of the program.
# Arguments: folder of the programs, of the test programs.
set -euo pipefail
bin=$1 tests=$2
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
export XDG_RUNTIME_DIR=$dir TZ=UTC LC_ALL=C.UTF-8
unset NO_COLOR GPURT_DRAIN COLUMNS LINES
top=$bin/gpurt-top app=$tests/scene_app

fail() { echo "FAIL: $*" >&2; exit 1; }
json() { jq -e "$@" || fail "jq ${*: -2}"; }
# expect STATUS COMMAND...
expect() {
    local status=0 want=$1
    shift
    "$@" >out 2>err </dev/null || status=$?
    [ "$status" = "$want" ] || { cat err >&2; fail "'$*': exit status $status, not $want"; }
}

# A log: sums as gpurt-log has them; the same picture twice; equal distances.
"$tests/make_log" run.gplog 40000 200000 3
expect 0 "$top" --once --json --replay run.gplog
json -c '[.records,.dropped,.panics,.sites,.first_ns,.last_ns,.back_end,.device]' out >a
"$bin/gpurt-log" stat --json run.gplog |
    json -c '[.records,.dropped,.panics,.sites,.first_ns,.last_ns,.back_end,.device]' >b
cmp a b || fail "gpurt-top and gpurt-log disagree: $(cat a b)"
json '.schema==1 and (.levels|add)==.records and .losses.full==.dropped and
      ([.site_list[].records]|add)==.records and .panics==(.panic_list|length) and
      ([.devices[].records]|add)==.records' out >/dev/null
for i in 1 2; do expect 0 "$top" -b -n 3 --replay run.gplog; mv out "pictures.$i"; done
cmp pictures.1 pictures.2 || fail "pictures of one log differ"
[ "$(grep -c '^gpurt-top ' pictures.1)" = 3 ] || fail "three pictures"
grep -q $'[\001-\010\013-\037\177\033]' pictures.1 && fail "control characters in a picture"
grep -Fq 'session name \x1b[31mred' pictures.1 || fail "escapes are shown"
expect 0 "$top" --json -n 2 --replay run.gplog
[ "$(json -s 'length==2 and .[0].records<.[1].records' out)" = true ] || fail "two moments"
# A log that nobody closed, and one of which nothing is whole: told, with what gpurt-log verify ends with.
"$bin/gpurt-record" -q -o open.gplog -- sh -c "'$app' 500 5000 1; sleep 0.5; kill -9 \$PPID" >out 2>err && fail 'a recorder that was killed'
expect 0 "$bin/gpurt-log" verify open.gplog
expect 0 "$top" -1 --replay open.gplog
[[ $(cat err) = 'gpurt-top: open.gplog: its writer is gone, and did not close it'* ]] || fail "not closed: $(cat err)"
head -c 2000 run.gplog >torn.gplog
expect 1 "$bin/gpurt-log" verify torn.gplog
expect 125 "$top" -1 --replay torn.gplog
grep -q '^gpurt-top: torn.gplog: .*damaged frame' err || fail "torn: $(cat err)"
# The view that is asked for, as wide and as high as it is said to be, under the same first lines.
expect 0 "$top" -b --replay run.gplog
mv out overview
for view in sites log panics gpu heaps lines scheduler help; do
    expect 0 "$top" -b -v "$view" --replay run.gplog
    cmp -s out overview && fail "-v $view: the overview"
    cmp <(head -n 3 out) <(head -n 3 overview) || fail "-v $view: its first lines"
    [ "$(tail -n 1 out)" = '' ] || fail "-v $view: no empty line behind it"
    [ "$(wc -l <out)" -le 44 ] || fail "-v $view: $(wc -l <out) lines"
    grep -q ' $' <(tail -n +4 out) && fail "-v $view: blanks at the end of a line"
    [ "$(tail -n +4 out | wc -L)" -le 100 ] || fail "-v $view: $(wc -L <out) columns"
done
expect 0 "$top" -b -v overview --replay run.gplog
cmp out overview || fail '-v overview'
expect 0 "$top" -b -v gpu --replay run.gplog
grep -q '^ Nothing is known of a GPU\.$' out || fail "-v gpu: $(cat out)"
# A table of the view of GPUs by its name, with those that are not shown counted.
"$tests/make_course" course.gplog
expect 0 env COLUMNS=120 LINES=30 "$top" -b -v calls --replay course.gplog
grep -q '^ kernels 6 ▸calls 4  ranges 8  memory 1  pools 0  by total ' out || fail "-v calls: $(cat out)"
grep -q '^   42\.9%        1   30\.00 us .* 0  cudaMemcpyAsync$' out || fail "-v calls: $(cat out)"
expect 0 "$top" -b -v Memory -F pinned --replay course.gplog
grep -q '^ No memory fits the filter' out || fail "-v Memory -F pinned: $(cat out)"
expect 125 "$top" -b -v call --replay course.gplog
grep -q 'no view call; there are overview, .* objects, .*kernels, calls' err || fail "-v call: $(cat err)"
expect 0 env COLUMNS=130 LINES=9 "$top" -b -v sites --replay run.gplog
[[ $(tail -n +4 out | wc -L) = 130 && $(wc -l <out) = 13 ]] || fail "a size of its own: $(wc -l -L out)"
expect 0 env LC_ALL=C "$top" -b -n 2 -v log --replay run.gplog
[[ $(grep -c '^-- Log ' out) = 2 ]] || fail "two pictures of a view, in ASCII: $(cat out)"
expect 125 "$top" -b -v gpu --json --replay run.gplog
grep -q -- '-v is for the screen or pictures (not --json) only' err || fail "a view of JSON: $(cat err)"
# Last messages are as long as the width allows.
widest() { sed -n '/^level  site/,/^$/p' "$1" | wc -L; }
[ "$(widest overview)" -le 101 ] || fail "an overview of $(widest overview) columns"
expect 0 env COLUMNS=180 "$top" -b --replay run.gplog
[[ $(widest out) -gt "$(widest overview)" && $(widest out) -le 181 ]] || fail "a wide overview of $(widest out) columns"
# No line is longer than the terminal; what has no room stands in the next one.
for columns in 40 80; do
    for log in run course; do
        expect 0 env COLUMNS=$columns "$top" -b --replay $log.gplog
        [ "$(wc -L <out)" -le $columns ] || fail "$log: $(wc -L <out) columns of $columns"
    done
done
grep -q 'cudaMemcpyAsync$' out || fail "a name is gone: $(cat out)"
expect 0 "$top" --replay run.gplog # no terminal: a picture by itself
setsid "$top" --replay run.gplog >out 2>err </dev/null || fail "without a terminal"
grep -q '^records ' out || fail "a picture without a terminal: $(cat out err)"

# One filter for all: what it lets through, what it does not understand, what nobody knows.
expect 125 "$top" -b -F 'lvl>=foo' --replay run.gplog
[[ $(sed -n 1p err) = *"no level is called 'foo'; there are event, trace"* && $(sed -n 3p err) = '       ^~~' ]] || fail "a wrong filter: $(cat err)"
expect 0 env COLUMNS=120 "$top" -b -v log -F 'kernel=x or lvl>=panic' --replay run.gplog
grep -q 'Log .* fit; kernel is not known for' out || fail "a kernel that nobody knows: $(cat out)"
log=$bin/gpurt-log
expect 0 "$bin/gpurt-panic" list -F 'kernel=x or cat=deadlock' run.gplog
[[ $(cat out) = '0 panics'* && $(cat err) = *'kernel is not known for '* ]] || fail "gpurt-panic -F: $(cat out err)"
expect 2 "$bin/gpurt-panic" list -F 'sm>x' run.gplog
expect 2 "$log" cat -F 'blok=5' run.gplog
grep -q 'did you mean block?' err || fail "gpurt-log -F: $(cat err)"
places() { jq -c "$1 | [.sm,.block,.lanes,.msg]"; }
"$log" cat -F '!sm=0 block<100 lvl>=info' --jsonl run.gplog | places . >fit
"$log" cat --jsonl run.gplog | places 'select(.sm!=0 and .block and .block<100 and (.level|IN("INFO","WARN","ERROR","PANIC")))' >want
[[ -s fit && $(cat fit) = "$(cat want)" ]] || fail "cat -F: $(diff fit want | head -5)"
[ "$("$log" tail -n 3 -F lvl=warn run.gplog)" = "$("$log" cat -F lvl=warn run.gplog | tail -n 3)" ] || fail "tail -F"
[ "$("$log" stat --json -F lvl=warn run.gplog | jq .records)" = "$("$log" cat -F lvl=warn run.gplog | wc -l)" ] || fail "stat -F"
[ "$("$log" export --to jsonl -o - -F lvl=warn run.gplog | wc -l)" = "$("$log" cat -F lvl=warn run.gplog | wc -l)" ] || fail "export -F"
expect 0 "$log" cat -F 'kernel=x' run.gplog
grep -q 'kernel is not known for [0-9]* of [0-9]* messages' err || fail "cat -F kernel: $(cat err)"

# A program: its streams are its own, pictures go to standard error or a file.
expect 7 "$top" -b -d 200ms -- "$app" 1500 20000 7 panic
grep -q 'scene_app: sent' out || fail "its output passes"
grep -q '^gpurt-top' out && fail "pictures in its output"
grep -q 'ended with status 7' err || fail "last picture: $(tail -5 err)"
[ "$(grep -c '^gpurt-top' err)" -ge 2 ] || fail "pictures on the way"
sent=$(sed -n 's/scene_app: sent //p' out)
expect 0 "$top" --once --json -o one.json -- "$app" 500 50000 0
sent=$(sed -n 's/scene_app: sent //p' out)
json ".records==$sent and .dropped==0 and .state==\"ended\" and .status==0" one.json >/dev/null
# JSON goes where programs read it; then the program's own output does not.
expect 5 "$top" --json -n 2 -- "$app" 300 5000 5
json -s 'length>=1 and (.[-1].records>0)' out >/dev/null
grep -q 'scene_app: sent' err || fail "the program's output: $(cat err)"
grep -q 'JSON goes to standard output, what .* prints there to standard error' err || fail "one line says so: $(cat err)"
expect 0 "$top" --once --json -o /dev/fd/7 -- "$app" 300 5000 0 7>one.json
json '.state=="ended"' one.json >/dev/null
grep -q 'scene_app: sent' out || fail "with -o its output stays: $(cat out)"
expect 125 "$top" --once -o /dev/full --replay run.gplog
# A program that failed has the word, wherever its pictures went; one that did not leaves it to them.
expect 3 "$top" -o /dev/full -- sh -c 'exit 3'
grep -q 'could not be written' err || fail "a full device: $(cat err)"
expect 125 "$top" -o /dev/full -- true
grep -q '/dev/full: could not be written' err || fail "a full device: $(cat err)"
expect 137 "$top" --once --json -o one.json -- "$app" 1000 20000 0 kill quiet
json '.status==137 and .records>1000' one.json >/dev/null
expect 0 "$top" --once --json -o one.json -- "$app" 300 5000 0 fork quiet
[ "$(printf 'a\nb\n' | "$top" -b -o pictures -- cat)" = $'a\nb' ] || fail "standard input"
expect 127 "$top" -b -- ./nothing
expect 126 "$top" -b -- /etc/passwd
expect 125 "$top" -b
expect 125 "$top" -b --replay nothing.gplog
expect 125 "$top" -b --replay run.gplog -- "$app"
expect 125 "$top" --color=pink -b --replay run.gplog
expect 125 "$top" -b -o /nonexistent/x --replay run.gplog
# What is printed is never the log, and nothing begins that cannot be printed.
cp run.gplog same.gplog
ln -s same.gplog link.gplog
for name in same link; do
    expect 125 "$top" -1 -r same.gplog -o $name.gplog
    grep -q "$name.gplog is the log itself; choose another file" err || fail "a picture over a log: $(cat err)"
    expect 1 "$bin/gpurt-log" export --to csv same.gplog -o $name.gplog
    grep -q "$name.gplog is the log itself; choose another file" err || fail "an export over a log: $(cat err)"
done
cmp run.gplog same.gplog || fail 'a log is gone'
expect 125 "$top" -b --record new.gplog -o new.gplog -- touch begun
expect 125 "$top" -b --record new.gplog -o /nonexistent/x -- touch begun
grep -q '/nonexistent/x: No such file' err || fail "no folder: $(cat err)"
[[ ! -e begun && ! -e new.gplog ]] || fail "begun without an output: $(ls)"
status=0
"$top" -b --record new.gplog -- "$app" 300 5000 5 <&- 2>&- >out || status=$?
[ "$status" = 5 ] || fail "without standard error: $status"
"$bin/gpurt-log" verify new.gplog >out 2>&1 || fail "without standard error: $(cat out)"
rm new.gplog
for name in INT TERM HUP USR1; do
    # In a script's background SIGINT is ignored, and we would leave it so.
    env --default-signal=INT "$top" -b -o pictures -- sleep 120 & monitor=$!
    started+=("$monitor")
    until_true 'the program runs' pgrep -P "$monitor" -x sleep
    kill -s "$name" "$monitor"
    status=0; wait "$monitor" || status=$?
    [ "$status" = $((128 + $(kill -l "$name"))) ] || fail "SIG$name: $status"
done

# A process that runs: what its monitor publishes, and a box that nobody drains.
"$top" -b -o pictures -- "$app" 600000 20000 0 quiet & monitor=$!
started+=("$monitor")
runs() { pid=$(pgrep -P "$monitor" -x scene_app); }
until_true 'the program runs' runs
started+=("$pid")
until_true 'it is published' [ -e "gpurt/$pid" ]
[ "$(ls gpurt)" = "$pid" ] || fail "published as well: $(ls gpurt)"
if [ "$(stat -c %a "gpurt/$pid")" != 600 ] || [ "$(stat -c %a gpurt)" != 700 ]; then fail "rights"; fi
busy() { "$top" --once --json -p "$pid" >out && jq -e '.records>1000 and .per_second>5000' out; }
until_true 'messages by the second' busy
json ".pid==$pid and .state==\"live\" and .records>1000 and .per_second>5000" out >/dev/null
expect 0 "$top" -b -n 2 -d 100ms -p "$pid"
[ "$(grep -c '^gpurt-top' out)" = 2 ] || fail "attached pictures"
kill -9 "$monitor" # the program goes on without it
wait "$monitor" 2>/dev/null || true
expect 0 "$top" --once --json -p "$pid"
json ".pid==$pid and .records>0" out >/dev/null
kill -0 "$pid" || fail "the program ended with its monitor"
kill "$pid"
expect 125 "$top" --once -p 1
[ "$(wc -l <err)" = 1 ] || fail "one line says why"
echo "all well"
