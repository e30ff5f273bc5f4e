#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# gpurt-top on a terminal, by tmux: views, sizes, filter, pause, looking back, quitting.
# Arguments: folder of the programs, of the test programs.
set -euo pipefail
bin=$1 tests=$2
dir=$(mktemp -d)
# shellcheck source=tests/tui/tmux.sh
. tests/tui/tmux.sh
trap 'end_screen; rm -rf "$dir"' EXIT
export XDG_RUNTIME_DIR=$dir TZ=UTC LC_ALL=C.UTF-8 TERM=screen-256color
unset NO_COLOR TMUX GPURT_DRAIN LESS PAGER GPURT_PAGER
top=$bin/gpurt-top app=$tests/scene_app

"$tests/make_log" "$dir/run.gplog" 60000 200000 3

# Views of a log.
start 80 24 "$top --replay $dir/run.gplog"
see 'llm_serve[41231]'; see 'REPLAY held'; see 'Records'; see 'Sites  10'; see 'SMs of GPU 0'
keys 2; see 'Log  '; gone 'Records'
keys 3; see 'raised'; see 'operand 1'; keys Enter; gone 'raised'; keys Escape; see 'raised'
keys 4; see 'Sites  10'; keys s; see 'by count'; keys Down Enter; see 'filter'; see 'Log  '
keys Escape; gone 'filter '
keys '?'; see 'this help'; keys '?'; see 'Records'
keys Tab; see 'Log  '; keys BTab; see 'Records'
keys q; see 'STATUS 0'

# The tables of the GPU view: each on its key, in another order, filtered, small and large; of several processes.
"$tests/make_course" "$dir/course.gplog"
start 80 24 "$top --replay $dir/course.gplog"
keys 6; see '▸kernels 6'; see 'softmax'; see 'by total (t table, s sort)'
keys t; see '▸calls 4'; see '4 of 4 names, 70.00 us, 0 without times, 0 with errors'; gone 'softmax'
keys s s s; see 'by max'; keys s s; see 'by name'; keys s; see 'by total'
keys /; t send-keys -l 'launch'; see '▸calls 2/4'; gone 'MemcpyHtoD'; keys Enter; see 'cudaLaunchKernel'
keys Escape; see '▸calls 4'; see 'cuMemcpyHtoDAsync'
keys /; t send-keys -l '核é心'; see 'filter: 核é心'; see '▸calls 0/4'; keys BSpace BSpace; see 'filter: 核  '; keys BSpace; see '▸calls 4'; keys Escape
keys t; see '▸ranges 8'; see '1 below'; gone 'unfinished'; keys G; see 'unfinished (torch)'; gone 'below'; keys t; see 'device, GPU 0'; see '4.0 KiB'
keys t; see 'No pool of memory was made'; keys t; see '▸kernels 6'; keys T T; see '▸memory 1'
t resize-window -x 40 -y 10; see 'ranges▸memory 1 pools'; see '4.0 KiB'
t resize-window -x 160 -y 40; see 'of the most'; keys T; see 'p99'; see 'marks  range'
t resize-window -x 80 -y 24; keys Enter; gone '▸ranges'; keys t; see '▸ranges'
keys Escape; see '▸kernels 6'; keys q; see 'STATUS 0'
"$tests/make_programs" "$dir/several.gplog"
start 100 30 "$top -v memory --replay $dir/several.gplog"
see '▸memory'; see 'device, GPU 0, process 4343'; keys q; see 'STATUS 0'

# Filter: typed letters filter at once; a message cannot reach the terminal.
start 80 24 "$top --replay $dir/run.gplog"
see 'Records'; keys 2 /; see 'filter:'; t send-keys -l 'session'; see 'session name \x1b[31mred'
gone 'token'
keys Home; t send-keys -l 'no'; see 'no line up to this moment fits'; keys Left Left DC DC C-e; see 'session name' # in the middle
keys C-w; see 'token'; t send-keys -l 'over budget'; see 'over budget: task'; keys C-u; see 'token'
t send-keys -l 'session'; gone 'token'
[ "$(t display-message -p '#{pane_title}')" != title ] || fail "a message set the title"
keys Enter; see 'filter session'; keys Escape; see 'token'
keys / Up; see 'session name'; gone 'token'; keys Down Enter; see 'token' # what was typed before
keys l; see 'debug+'; keys l l; see 'warn+'; gone 'INFO '; keys Escape; gone 'warn+'

# Any line of the log can be reached, whatever its level, and each panic.
keys 2 Home; see '60000 lines in the file'; first=$("$bin/gpurt-log" cat "$dir/run.gplog" | sed -n '1s/.*  \([a-z].*\)/\1/p'); see "$first"
keys PgDn Up; gone "$first"; keys Up; see 'up to 00:00:00.0'; keys End; gone '(End: to the moment)'; see "$("$bin/gpurt-log" tail -n 1 "$dir/run.gplog" | sed 's/.*  //')"
keys 1 '^' ')'; see ' 1 PANIC '; keys ')'; see ' 2 PANICS '; keys '('; see ' 1 PANIC '; keys '('; see 'no panic in that direction'; keys '$'

# Looking back in a log.
t send-keys 1 '^' '}' '}' '{'; see ' 10.0%' # keys that come at once all count
keys '^'; see ' 0.0%'; keys '}'; see ' 10.0%'; keys ']'; see ' 12.0%'; keys '['; see ' 10.0%'
keys '{'; see ' 0.0%'; keys '$'; see '100.0%'; keys + ; see '2x'

# Sizes.
t resize-window -x 20 -y 5; see 'llm_serve'
t resize-window -x 120 -y 36; see 'per s'; see 'GPU 0 H200'; see 'SMs'
t resize-window -x 300 -y 90; see 'flash_fwd.cu:512'
t resize-window -x 80 -y 24; see 'Records'
keys q; see 'STATUS 0'; gone 'llm_serve'

# A program: its exit code, its output kept off the screen and printed at the end.
start 100 30 "$top -x -- $app 60000 5000 3 panic until=$dir/enough"
see 'LIVE'; see 'CPU 0 feed'; see '5Output'
keys 5; see 'scene_app: started \x1b[32mgreen'
touch "$dir/enough"
see 'STATUS 3'; see 'scene_app: started green'; see 'scene_app: sent'

# Held and looked back, while it runs.
start 100 30 "$top -- $app 600000 3000"
see 'LIVE'; until_true 'two seconds' drawn 'over ([2-9]|[0-9]{2,})\.'; keys Space; see 'PAUSED'
until_true 'a held picture moves' still
keys Space; see 'LIVE'; before=$(t capture-pane -p); until_true 'it does not go on' moved
keys '['; see 'PAST'; see '-'; keys '$'; see 'LIVE'
keys q; see 'still runs'; keys Escape; gone 'still runs'; see 'LIVE'
keys q Enter; see 'STATUS 143'
# Let it run: the shell has its terminal back, the program has its log and its output, and no Ctrl-C reaches it.
for record in '' "--record $dir/left.gplog"; do
    rm -f "$dir/left" "$dir"/gpurt-*.out
    start 120 12 "cd $dir; $top $record -- $app 60000 3000 9 until=$dir/left"
    see 'LIVE'; t resize-window -x 40 -y 12; keys q; see 'Enter end it  d let it run  Esc stay'; keys d; see 'STATUS 0'
    t resize-window -x 300 -y 12; see 'scene_app: started green'; gone 'LIVE'; see 'goes on as process'
    see "${record:+its log goes to $dir/left.gplog}"; see 'its output to gpurt-'
    left=$(basename "$dir"/gpurt-*.out .out) left=${left#gpurt-}
    keys C-c; sleep 0.2; kill -0 "$left" || fail 'the program is gone'
    "$top" --once --json -p "$left" | jq -e ".state==\"live\" and .pid==$left" >/dev/null || fail 'nobody shows it'
    touch "$dir/left"; until_true 'its output' grep -q 'scene_app: sent' "$dir/gpurt-$left.out"
done
sent=$(sed -n 's/.*scene_app: sent //p' "$dir/gpurt-$left.out")
whole() { [ "$("$bin/gpurt-log" stat --json "$dir/left.gplog" | jq -c '[.records,.dropped]')" = "[$sent,0]" ]; }
until_true "all of the log, $sent records" whole
start 100 30 "$top -- $app 300 3000 4"
see 'ENDED 4'; keys q; see 'STATUS 4'
start 100 30 "$top -- ./nothing"
see 'STATUS 127'

# gpurt-log cat through a pager; none for what fits the screen, or by name; one that is missing is told of.
start 80 24 "$bin/gpurt-log cat $dir/run.gplog"
first=$("$bin/gpurt-log" cat "$dir/run.gplog" | head -n 1 | cut -c1-18 || true)
see "$first"; drawn $'\033\\[2m' || fail 'no colours in the pager'; keys q; see 'STATUS 0'
"$tests/make_log" "$dir/few.gplog" 6 200000 3
start 80 24 "$bin/gpurt-log cat $dir/few.gplog"; see 'STATUS 0'; see 'dev0 sm'
start 80 24 "GPURT_PAGER='sed s/dev0/pages/' $bin/gpurt-log cat --color=never $dir/few.gplog"; see 'pages'; see 'STATUS 0'
start 80 24 "PAGER=no-such-pager $bin/gpurt-log cat $dir/few.gplog"; see "the pager 'no-such-pager' does not start"; see 'STATUS 2'
start 80 24 "PAGER=no-such-pager $bin/gpurt-log cat --no-pager $dir/few.gplog"; see 'STATUS 0'

# A signal gives the terminal back.
start 80 24 "$top --replay $dir/run.gplog"
see 'REPLAY'; pkill_pid=$(t list-panes -F '#{pane_pid}')
kill -TERM "$(cut -d' ' -f1 "/proc/$pkill_pid/task/$pkill_pid/children")"
see 'STATUS 143'

# No colour, 8 colours, no UTF-8.
start 80 24 "NO_COLOR=1 $top --replay $dir/run.gplog"
see 'Records'; ! drawn $'\033\\[[0-9;]*(3[0-7]|38;5)' || fail "colours with NO_COLOR"
start 80 24 "$top --replay $dir/run.gplog"
see 'Records'; until_true "no 256 colours" drawn $'\033\\[[0-9;]*38;5'
start 80 24 "TERM=ansi $top --replay $dir/run.gplog"
see 'Records'; until_true "no 8 colours" drawn $'\033\\[[0-9;]*3[0-7]'
! drawn $'\033\\[[0-9;]*38;5' || fail "256 colours on a terminal of 8"
start 80 24 "LC_ALL=C $top --replay $dir/run.gplog"
see '-- Records'; see 'F10 Quit'; ! drawn $'[\200-\377]' || fail "not ASCII"
# curses loses some memory when it finds no terminal.
start 120 40 "ASAN_OPTIONS=detect_leaks=0 TERM=nonsense $top --replay $dir/run.gplog"
see 'gpurt-top: no screen: TERM names a terminal that is not known here'; see 'records '; see 'STATUS 0'
start 120 40 "ASAN_OPTIONS=detect_leaks=0 TERM=dumb $top --replay $dir/run.gplog"
see 'gpurt-top: no screen: TERM names a terminal whose cursor cannot be moved'; see 'records '; see 'STATUS 0'
echo "all well"
