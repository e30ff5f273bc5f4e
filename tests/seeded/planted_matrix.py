#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which tool finds which planted bug, shown by running them.

  planted_matrix.py GPURT_CHECK PLANTED [ROW...]    runs rows (all), prints the matrix, ends with 0, 1 or 77 (skipped)
  planted_matrix.py --list                          names the rows, BUG.TOOL, one a line

A row holds when the tool finds the bug, says the expected words, and stays quiet about the corrected twin under the
same seeds. PLANTED is the program of tests/seeded/planted.c, with PLANTED-race, -asan and -schedule beside it."""
import concurrent.futures
import os
import platform
import subprocess
import sys
import time

# How a tool is called. CHECK: words of gpurt-check; an environment: the program runs alone, in the default schedule.
CHECK = {
    "seeds": ["--seeds", "100"],
    "pct": ["--pct", "--seeds", "100"],
    "schedule": ["--schedule", "--seeds", "100"],
    "race": ["--race", "--seeds", "20"],
    "asan": ["--asan", "--seeds", "10"],
    "strict": ["--strict", "--seeds", "100"],
}
ALONE = {
    "run": {},
    "scope": {"GPURT_CHECK": "scope"},
    "strict_run": {"GPURT_CHECK": "strict"},
    "resident": {"GPURT_MAX_RESIDENT": "1"},
    "race_run": {"GPURT_WORKERS": "1"},  # the race detector where lanes run in order: it must not need luck
}
# Which of the other builds a tool runs; gpurt-check finds them by itself.
VARIANT = {"race": "-race", "race_run": "-race", "asan": "-asan", "schedule": "-schedule"}
QUIET = None  # the tool must say nothing about either
RACE = "ThreadSanitizer: data race"

ROWS = [
    ("missing_barrier", "seeds", "missing_barrier: word"),
    ("missing_barrier", "race", RACE),
    ("second_barrier", "seeds", "second_barrier: word"),
    ("second_barrier", "race", RACE),
    ("second_barrier", "race_run", RACE),
    ("second_syncwarp", "seeds", "second_syncwarp: word"),
    ("second_syncwarp", "race", RACE),
    ("second_syncwarp", "race_run", RACE),
    ("ballot_barrier", "race", RACE),  # no order of lanes shows it: a ballot does make them meet
    ("relaxed_publish", "race", RACE),
    ("lost_update", "seeds", "expected 512"),
    ("lost_update", "pct", "expected 512"),
    ("plain_update", "race", RACE),
    ("plain_update", "schedule", "expected 512"),
    ("aba", "seeds", "aba: word 0"),
    ("aba", "schedule", "aba: word 0"),
    ("block_scope", "scope", "GPURT_E_SCOPE"),
    ("block_scope", "seeds", "GPURT_E_SCOPE"),
    ("shared_unset", "run", "shared_unset: word"),
    ("outsider_mask", "run", "not in the mask it names"),
    ("mismatched_masks", "run", "GPURT_E_SYNC"),
    ("mismatched_masks", "seeds", "GPURT_E_SYNC"),
    ("divergent_barrier", "run", "GPURT_E_DEADLOCK"),
    ("divergent_barrier", "seeds", "GPURT_E_DEADLOCK"),
    ("named_barrier", "run", "GPURT_E_DEADLOCK"),
    ("named_barrier", "seeds", "GPURT_E_DEADLOCK"),
    ("barrier_sites", "strict", "GPURT_E_SYNC"),
    ("barrier_sites", "strict_run", "GPURT_E_SYNC"),
    ("barrier_sites", "run", QUIET),
    ("exit_named", "strict", "GPURT_E_SYNC"),
    ("exit_named", "strict_run", "GPURT_E_SYNC"),
    ("exit_named", "run", QUIET),
    ("names_ended", "strict", "GPURT_E_SYNC"),
    ("names_ended", "strict_run", "GPURT_E_SYNC"),
    ("names_ended", "run", QUIET),
    ("heap_overflow", "asan", "AddressSanitizer: heap-buffer-overflow"),
    ("lane_overflow", "asan", "out of bounds"),
    ("shift", "asan", "shift exponent 33"),
    ("stack_overflow", "run", "GPURT_E_STACK"),
    ("stack_overflow", "asan", "AddressSanitizer: stack-overflow"),
    ("null", "run", "GPURT_E_FAULT"),
    ("null", "asan", "null pointer"),
    ("divide", "asan", "division by zero"),
    ("trap", "run", "GPURT_E_TRAP"),
    ("occupancy", "run", QUIET),
    ("occupancy", "resident", "GPURT_E_OCCUPANCY"),
    ("livelock", "run", "GPURT_E_LIVELOCK"),
    ("livelock", "seeds", "GPURT_E_LIVELOCK"),
    ("endless_spin", "run", "GPURT_E_LIVELOCK"),
    ("endless_spin", "seeds", "GPURT_E_LIVELOCK"),
    ("missing_relax", "run", QUIET),
    ("missing_relax", "scope", QUIET),
    ("missing_relax", "seeds", QUIET),
    ("broken_promise", "seeds", "thread 37 (warp 1 lane 5): word 37 of 8"),
    ("broken_promise", "schedule", "panic in kernel planted_broken_promise"),
]
if platform.machine() == "x86_64":  # other processors divide by zero without a word
    ROWS.append(("divide", "run", "GPURT_E_FAULT"))

TIMEOUT_S = 25
SKIPPED = 77


def name_of(row):
    return f"{row[0]}.{row[1]}"


def clean_environment(extra):
    """Nobody's GPURT_* or sanitizer options but ours; a livelock is one after a third of a second."""
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GPURT_") and not k.endswith("SAN_OPTIONS")}
    return {**keep, "GPURT_SPIN_LIMIT_MS": "300", **extra}


def run_once(check, planted, row, twin):
    """Returns (exit status, output)."""
    bug, tool, _ = row
    program = [planted + (VARIANT.get(tool, "") if tool in ALONE else ""), bug] + (["--good"] if twin else [])
    command = program if tool in ALONE else [check, *CHECK[tool], "--", *program]
    try:
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=TIMEOUT_S,
                              env=clean_environment(ALONE.get(tool, {})))
    except subprocess.TimeoutExpired as late:
        return 124, f"no end after {TIMEOUT_S} s: {late.stdout}"
    return done.returncode, done.stdout + done.stderr


def what_is_wrong(row, bug_run, twin_run):
    """None when the row holds, else a sentence and the output behind it."""
    _, tool, words = row
    status, output = bug_run
    if twin_run[0] != 0:
        return f"the corrected twin: exit status {twin_run[0]}, expected 0", twin_run[1]
    if words is QUIET:
        return None if status == 0 else (f"exit status {status}: {tool} must be quiet here", output)
    if status not in (1, 66):  # 66: the race detector's own
        return f"not found by {tool}: exit status {status}, expected 1", output
    return None if words in output else (f"found by {tool}, but without the words '{words}'", output)


def hold_row(check, planted, row):
    """Returns (row, "found" | "quiet" | "skip" | "WRONG", seconds, explanation)."""
    variant = planted + VARIANT.get(row[1], "")
    if not os.access(variant, os.X_OK):
        return row, "skip", 0.0, f"there is no {variant}"
    begin = time.monotonic()
    wrong = what_is_wrong(row, run_once(check, planted, row, False), run_once(check, planted, row, True))
    seconds = time.monotonic() - begin
    if wrong:
        return row, "WRONG", seconds, wrong[0] + "\n" + "\n".join("    " + line for line in wrong[1].split("\n")[:40])
    return row, "quiet" if row[2] is QUIET else "found", seconds, ""


def print_matrix(results):
    tools = [tool for tool in (*ALONE, *CHECK) if any(row[1] == tool for row, *_ in results)]
    bugs = list(dict.fromkeys(row[0] for row, *_ in results))
    cells = {(row[0], row[1]): state for row, state, *_ in results}
    print(f"{'':18}" + "".join(f"{tool:>11}" for tool in tools))
    for bug in bugs:
        print(f"{bug:18}" + "".join(f"{cells.get((bug, tool), '.'):>11}" for tool in tools))


def main(words):
    if words == ["--list"]:
        print("\n".join(map(name_of, ROWS)))
        return 0
    if len(words) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    check, planted, wanted = words[0], words[1], words[2:]
    unknown = set(wanted) - set(map(name_of, ROWS))
    if unknown:
        print(f"no row {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    rows = [row for row in ROWS if not wanted or name_of(row) in wanted]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        results = list(pool.map(lambda row: hold_row(check, planted, row), rows))
    print_matrix(results)
    for row, state, seconds, explanation in results:
        if explanation:
            print(f"{name_of(row)}: {state}: {explanation}")
    states = [state for _, state, *_ in results]
    print(f"{len(states) - states.count('WRONG') - states.count('skip')} of {len(states)} rows hold, "
          f"{states.count('skip')} skipped")
    if "WRONG" in states:
        return 1
    return SKIPPED if states.count("skip") == len(states) else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
