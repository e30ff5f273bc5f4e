#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# test_pycallers.sh FOLDER-OF-PROGRAMS FOLDER-OF-TESTS SANITIZER: who launched, in Python too, over a stand-in for CUPTI:
# programs of each CPython that is installed here launch from nested functions, from threads, from a thread of C's.
set -euo pipefail
here=$(realpath "${BASH_SOURCE[0]%/*}")
# shellcheck source=tests/cupti/standin.sh
. "${BASH_SOURCE[0]%/*}/standin.sh" "$1" "$2"
# A sanitizer's library comes before all others of a program that was built without.
preload=
case ${3-} in
*address*) preload=$(gcc -print-file-name=libasan.so) ;;
*thread*) preload=$(gcc -print-file-name=libtsan.so) ;;
esac
line() { grep -n "# line: $1\$" "$here/py_app.py" | cut -d: -f1; }
has() { grep -q -e "$1" "$2" || { tail -n 8 "$2" | cut -c1-900 >&2; fail "$python: no '$1' in $2"; }; }

# record WORDS MODE [SECONDS]: what the log says of a program of this Python.
record() {
    rm -f run.gplog
    "$bin/gpurt-record" -q -o run.gplog --cupti "$1" -- env ${preload:+"LD_PRELOAD=$preload"} "$python" "$here/py_app.py" "$tests/libpy_launch.so" "$2" "${3-0.7}" >out 2>err ||
        fail "$python, $2: exit status $?: $(tail -n 5 err)"
    "$bin/gpurt-log" cat run.gplog >text
    "$bin/gpurt-log" stat run.gplog >sums
    "$bin/gpurt-log" stat --json run.gplog | jq -c '.activity.running' >json
}

# CPython by its real path, one of each minor version: what the system has, then pyenv's.
declare -A found
for at in /usr/bin/python3.[0-9]* /usr/local/bin/python3.[0-9]* ~/.pyenv/versions/3.*/bin/python3; do
    minor=$("$at" -c 'import ctypes, sys; print(sys.version_info[1])' 2>/dev/null) || continue
    found[$minor]=${found[$minor]-$(realpath "$at")}
done
read_of=0
for minor in 8 9 10 11 12 13; do
    python=${found[$minor]-}
    [ -n "$python" ] || { echo "3.$minor is not installed: not tested"; continue; }
    read_of=$((read_of + 1))

    # A nested function of a method, behind statements of several lines: innermost first.
    inner='inner' forward='forward'
    [ "$minor" -lt 11 ] || inner='Model.forward.<locals>.inner' forward='Model.forward'
    record default,running beside
    has " running before: .*, Python /[^ ]*py_app.py:$(line inner) $inner < /[^ ]*py_app.py:[0-9]* $forward < /[^ ]*py_app.py:$(line step) step < [^ ]*py_app.py:[0-9]* beside < [^ ]*py_app.py:[0-9]* <module>\$" text
    has "^running    before for .*, from py_app.py:$(line inner) $inner\$" sums
    jq -e ".[0] | .name == \"before\" and .python_of == \"thread\" and (.python[2] | .line == $(line step) and .function == \"step\" and
        (.file | endswith(\"/py_app.py\"))) and (.calls[0] | test(\"libpy_launch.so[+]0x\"))" json >/dev/null || fail "$python: $(cat json)"
    # Launched by a thread of C's that Python waits for.
    has " running beside: .*, Python /[^ ]*py_app.py:$(line beside) beside < " text
    jq -e '.[] | select(.name == "beside") | .python_of == "waits" and .thread != .pid' json >/dev/null || fail "$python: $(cat json)"
    # Before a fault, too; without brackets of colour or whatever else names hold.
    record default,launches named 0
    told "$("$bin/gpurt-panic" list run.gplog)" "^last launch: named, .*; Python: py_app.py:$(line inner) $inner < .* < ä€ \\\\x1b\[31m.py:2 für < ä€ \\\\x1b\[31m.py:4 <module> < py_app.py:[0-9]* named < .*; its end is not recorded\$" "$python"
done
[ "$read_of" -gt 0 ] || { echo 'skipped: no CPython of 3.8 to 3.13 is here' >&2; exit 77; }
for minor in 6 7 14; do
    python=${found[$minor]-}
    [ -n "$python" ] || { echo "3.$minor is not installed: not tested"; continue; }
    record default,running own
    has "WARN .*frames of Python are not read of CPython 3.$minor: gpurt reads 3.8 to 3.13; calls of host code are there" text
    has ' running own_thread: .*, from /[^ ]*libpy_launch.so+0x[0-9a-f]* < .*, Python (not known)$' text
done

# The rest does not depend on the version: the newest one that is here.
for minor in 8 9 10 11 12 13; do python=${found[$minor]-$python}; done
# A thread of Python's own, which has ended by then.
record default,running thread
has " running other_thread: .*, Python .*py_app.py:$(line step) step" text
# The last one of a burst of launches has no stack of its own: it is told where its thread stands, while the program runs.
record default,running now 1.2
has " running first: .* number 1 of them, .*, Python [^ ]*py_app.py:$(line inner) .*inner < " text
has " running second: .*, from (not known), Python [^ ]*py_app.py:$(line rest) rest < [^ ]*py_app.py:[0-9]* <module>\$" text
# More frames than are read.
record default,running deep
has " running deep: .*, Python .*py_app.py:$(line step) step < [^ ]*py_app.py:[0-9]* deep < [^ ]*py_app.py:[0-9]* deep < " text
# Six threads at a time, and code that comes and goes with them, beside a thread that looks.
record default,running busy
has ' running \(beside_\)\?busy: .*, Python .*py_app.py' text
# A program without Python has calls of host code, and no word of Python's.
"$bin/gpurt-record" -q -o plain.gplog --cupti default,running -- "$app" running-last 900
"$bin/gpurt-log" cat plain.gplog >text
has ' running last(int): .*, from /[^ ]*cupti_app+0x[0-9a-f]* < .*, Python (not known)$' text
grep -q 'WARN .*Python' text && fail "$(grep Python text | tail -n 1)"

# A hang is told with its frames, and with the source's lines.
GPURT_CUPTI=live "$bin/gpurt-record" -q -o hang.gplog --hang-after 0.7 -- env ${preload:+"LD_PRELOAD=$preload"} "$python" "$here/py_app.py" "$tests/libpy_launch.so" own 2 >out 2>err
has '^  Python, as its thread launched it:$' err
has "^    py_app.py:$(line inner) .*inner -> return lib.py_launch(x)  # line: inner\$" err
has "^    py_app.py:$(line step) step -> Model().forward(name)  # line: step\$" err
has '^  launched from libpy_launch.so+0x' err
COLUMNS=180 "$bin/gpurt-top" -b -v gpu --replay hang.gplog >top
has "running own_thread for .*, from py_app.py:$(line inner) " top
