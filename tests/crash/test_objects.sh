#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kettles: objects of a class that these programs never heard of. What is shown of them, live, in the log, in exports and
# in a replay, comes from the class's own declaration.
# Arguments: folder of the programs, kettle_app.
set -euo pipefail
bin=$1 app=$2
dir=$(mktemp -d)
recorder=
clean() {
    exec 3>&- || true
    [ -z "$recorder" ] || kill "$recorder" 2>/dev/null || true
    rm -rf "$dir"
}
trap clean EXIT
trap 'echo "line $LINENO: status $? of: $BASH_COMMAND" >&2' ERR
# shellcheck source=tests/wait.sh
. "${BASH_SOURCE[0]%/*}/../wait.sh"
cd "$dir"
unset GPURT_DRAIN GPURT_LOG GPURT_LEVEL GPURT_RING_BYTES GPURT_OFF GPURT_HEAP_VIEW
export GPURT_BACKEND=${GPURT_BACKEND:-cpu} GPURT_CUPTI=off XDG_RUNTIME_DIR=$dir LC_ALL=C.UTF-8 TZ=UTC

fail() {
    echo "FAIL: $*" >&2
    exit 1
}
has() { # FILE TEXT...
    local text
    for text in "${@:2}"; do
        grep -qF -- "$text" "$1" || fail "no '$text' in $1: $(cat "$1")"
    done
}

mkfifo line
GPURT_HEAP_VIEW=20 "$bin/gpurt-record" -q -o run.gplog -- "$app" <line >said 2>errors &
recorder=$!
exec 3>line
until_true 'the kettles never boiled' grep -q boiled said

# Live, from another process.
kettles='.objects.list | map(select(.class=="kettle")) | sort_by(.id)'
told() { "$bin/gpurt-top" --once --json -p "$(pgrep -P "$recorder" -f kettle_app)" >live.json 2>/dev/null &&
    jq -e "$kettles | .[1].fields.boils == 3200" live.json >/dev/null; }
until_true 'gpurt-top never told of them' told
jq -e "$kettles | .[0] | .full_percent == 13 and (.ended | not) and .fields.name == \"the blue one\" and
    .fields.state == \"warm\" and .fields.litres == 1 and .fields.temperature == 60 and .fields.faults == 0 and
    .fields.stove == 1 and (.fields.waits | length == 20 and .[0] == 200 and .[19] == 100) and
    (.fields.map | length == 1024 and .[127] == 254 and .[128] == 1 and .[584] == 1)" live.json >/dev/null || fail "$(cat live.json)"
jq -e '.objects.classes[] | select(.name=="kettle") | .plural=="kettles" and
    (.fields[] | select(.name=="litres") | .of=="capacity" and .unit=="l" and .kind=="gauge")' live.json >/dev/null ||
    fail "the class: $(cat live.json)"
exec 3>&-
wait "$recorder"
recorder=

grep -qx 'gpurt: objects of the class oven are not told: its fields break a rule of objectclass.h' errors || fail "$(cat errors)"

# As text, as JSON lines, as CSV. A name cannot steer a terminal.
"$bin/gpurt-log" cat run.gplog >cat.txt
has cat.txt 'kettle 1: stove 1, name the blue one, capacity 8 l, litres 1 l, temperature 60 C, state warm, boils 3200, faults 0,' \
    'kettle 2: stove 1, name \x1b[31mred,' 'state boiling, boils 3200, faults 1, waits 20 buckets of 3200, map 1024 cells, ended'
"$bin/gpurt-log" stat run.gplog >stat.txt
has stat.txt 'kettle 1, ended  stove 1, name the blue one, capacity 8 l, litres 1 l, temperature 60 C, state warm, boils 3200' \
    'waits: 200 from 0 ns, 200 from 2 ns,'
"$bin/gpurt-log" cat --jsonl run.gplog | jq -cse 'map(select(.class=="kettle" and .ended and .fields.stove)) | length == 2 and
    (.[1] | .id == 2 and .kind == "object" and .fields.litres == 2 and .fields.name == "\u001b[31mred")' >/dev/null ||
    fail 'JSON lines'
kind() { "$bin/gpurt-log" cat -F "kind=$1" run.gplog | grep -cE '(kettle|stove) [12]: ' || true; }
if [ "$(kind object)" = 0 ] || [ "$(kind log)" != 0 ]; then fail 'a filter by kind'; fi
"$bin/gpurt-log" export --to csv -o run.csv run.gplog
has run.csv '"kettle",2,"true","{""stove"":1,""name"":""\u001b[31mred"",'

# Timelines: each number is a counter.
"$bin/gpurt-log" export --to chrome -o run.json run.gplog
jq -e '[(.traceEvents? // .)[] | select(.ph=="C" and .name=="kettle 2: temperature")] |
    length > 0 and last.args.C == 80' run.json >/dev/null || fail 'no counter in the timeline of Chrome'
"$bin/gpurt-log" export --to perfetto -o run.pftrace run.gplog
LC_ALL=C grep -qa 'kettle 2: litres' run.pftrace || fail 'no counter in the timeline of Perfetto'

# On the screen: the table and the page, as a replay draws them.
screen() { LC_ALL=C COLUMNS=100 LINES=14 "$bin/gpurt-top" -b -n 1 -v "$1" --replay run.gplog; }
screen objects:kettles >table
has table '-- Objects  3 -' 'stoves 1 >kettles 2' ' number  litres               faults     stove          name' \
    ' 1       ##..........  13%         0   stove 1  the blue one' ' 2       ###.........  25%         1   stove 1'
screen objects:pans >table 2>errors && fail 'a class that is not there'
has table 'no class pans was recorded'
has errors 'gpurt-top: no class pans was recorded; there are stove, kettle'

# What the log says and what a replay says are one.
"$bin/gpurt-log" stat --json run.gplog | jq -cS .objects >a
"$bin/gpurt-top" --once --json --replay run.gplog | jq -cS .objects >b
cmp a b || fail 'a replay differs'
