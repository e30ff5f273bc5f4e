#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_host_words.sh PROGRAM OTHER...: a program that stores words beside a kernel replays with its seed and the file of its words.
# Without the file, or with that of another run, it says that it does not. PROGRAM is test_service_seeds; OTHERs only replay.
set -euo pipefail
# shellcheck source=tests/scratch.sh
. "${BASH_SOURCE[0]%/*}/../scratch.sh"
unset GPURT_SEED GPURT_SCHEDULE GPURT_HOST_WORDS GPURT_CHECK_REPORT

# run NAME SEED [WORDS]: NAME.report, NAME.err, the exit status
run() {
    local status=0
    GPURT_CHECK_REPORT=$1.report GPURT_HOST_WORDS=${3:-} timeout 30 "$program" 1 "$2" 2>"$1.err" || status=$?
    echo "$status" >"$1.status"
}
says() { grep >/dev/null -e "$2" "$1.err" || fail "$1: no '$2' in: $(cat "$1.err")"; }
key() { sed -n "s/^$2 //p" "$1.report"; }
good() { [ "$(cat "$1.status")" = 0 ] || fail "$1: $(cat "$1.err")"; }

for program in "${@:2}" "$1"; do
    for seed in 2 3 6; do
        run recorded "$seed" record:words
        good recorded
        [ "$(key recorded replayable)" = yes ] || fail "$program, seed $seed: recorded, and not replayable"
        for again in 1 2; do
            run "again$again" "$seed" replay:words
            good "again$again"
            [ "$(key "again$again" hash)" = "$(key recorded hash)" ] || fail "$program, seed $seed, run $again: another schedule"
            [ "$(key "again$again" replayable)" = yes ] || fail "$program, seed $seed, run $again: replayed, and not replayable"
            ! grep GPURT_HOST_WORDS "again$again.err" || fail "$program, seed $seed, run $again"
        done
    done
    [ "$(grep -c ' word ' words)" -ge 8 ] || fail "few words: $(cat words)"
done

# Without the file nobody promises anything.
unset GPURT_HOST_WORDS
GPURT_CHECK_REPORT=free.report "$program" 1 6 2>free.err
[ "$(key free replayable)" = no ] || fail 'without the file'

# That of another run: another word, an act too few, one too many.
sed '0,/word 0 2$/s//word 0 7/' words >other
run other 6 replay:other
says other 'does something else: from here on this is another run'
[ "$(key other replayable)" = no ] || fail 'another word: replayable'
head -n -2 words >short
run short 6 replay:short
says short 'does one more: from here on this is another run'
{ cat words; echo "4000000000 op"; } >long
run long 6 replay:long
says long 'the host has ended before 1 of [0-9]* acts'

# What is no such file is refused before anything runs.
run seed 7 replay:words
says seed 'words was recorded under GPURT_SEED=6, this run has 7'
sed '3s/.*/8 words/' words >damaged
run damaged 6 replay:damaged
says damaged 'damaged, line 3: not a line of such a file'
run none 6 replay:/nonexistent
says none 'open /nonexistent'
run word 6 again:words
says word "'again:words': say record:FILE or replay:FILE"
for refused in seed damaged none word; do
    [ "$(cat $refused.status)" != 0 ] || fail "$refused is not refused"
done
