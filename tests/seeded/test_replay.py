#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same seed makes the same schedule, whoever compiled the program and whatever watches it.

  test_replay.py PLANTED

PLANTED is the program of tests/seeded/planted.c. Its hash of the schedule must be the same in PLANTED,
PLANTED-clang, PLANTED-asan and PLANTED-race, and under gdb, for every seed; other seeds must give other hashes. Ends
with 0, 1 or 77."""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys

PROGRAMS = [["aba", "--good"], ["lost_update"], ["relaxed_publish", "--good"]]
SEEDS = range(1, 21)
BUILDS = ["", "-clang", "-asan", "-race"]
LEAST_BUILDS = 2  # a comparison of one is none
HASH = re.compile(r"hash [0-9a-f]{16} switches \d+ preemptions \d+")  # gdb's own words may share the line
TIMEOUT_S = 60
SKIPPED = 77


def settings(seed):
    """As gpurt-check: every fifth seed PCT, the others random."""
    return {"GPURT_BACKEND": "cpu", "GPURT_SEED": str(seed), "GPURT_SCHEDULE": "random" if seed % 5 else "pct"}


def environment(extra):
    keep = {k: v for k, v in os.environ.items() if not k.startswith("GPURT_") and not k.endswith("SAN_OPTIONS")}
    return {**keep, **extra}


def hash_of(program, words, seed):
    done = subprocess.run([program, *words, "--hash"], capture_output=True, text=True, errors="replace",
                          timeout=TIMEOUT_S, env=environment(settings(seed)))
    found = HASH.search(done.stdout)
    return found.group(0) if found else f"no hash, exit status {done.returncode}: {done.stdout}{done.stderr}"


def hashes_under_gdb(program, words):
    """All seeds in one session: gdb takes longer to start than they take to run."""
    command = ["gdb", "-q", "-nx", "-batch", "-ex", "set confirm off", "-ex", "set style enabled off",
               "-ex", "set print thread-events off"]
    for seed in SEEDS:
        for name, value in settings(seed).items():
            command += ["-ex", f"set environment {name} {value}"]
        command += ["-ex", f"echo seed {seed}\\n", "-ex", "run"]
    done = subprocess.run([*command, "--args", program, *words, "--hash"], capture_output=True, text=True,
                          errors="replace", timeout=3 * TIMEOUT_S, env=environment({}))
    parts = re.split(r"^seed (\d+)\n", done.stdout, flags=re.M)
    found = {int(seed): HASH.search(text) for seed, text in zip(parts[1::2], parts[2::2])}
    silent = f"no hash, but: {(done.stderr or done.stdout)[-400:]}"
    return {seed: found[seed].group(0) if found.get(seed) else silent for seed in SEEDS}


def collect(planted, builds, pool):
    """{(words, seed): {who: hash line}}"""
    tasks = {}
    for words in PROGRAMS:
        for seed in SEEDS:
            for build in builds:
                tasks[" ".join(words), seed, "planted" + build] = pool.submit(hash_of, planted + build, words, seed)
    sessions = {}
    if shutil.which("gdb"):
        sessions = {" ".join(words): pool.submit(hashes_under_gdb, planted, words) for words in PROGRAMS}
    else:
        print("no gdb on this machine: left out")
    table = {}
    for (words, seed, who), task in tasks.items():
        table.setdefault((words, seed), {})[who] = task.result()
    for words, session in sessions.items():
        for seed, line in session.result().items():
            table[words, seed]["gdb"] = line
    return table


def main(arguments):
    if len(arguments) != 1:
        print(__doc__, file=sys.stderr)
        return 2
    planted = arguments[0]
    builds = [build for build in BUILDS if os.access(planted + build, os.X_OK)]
    for build in sorted(set(BUILDS) - set(builds)):
        print(f"no {planted}{build}: left out")
    if len(builds) < LEAST_BUILDS:
        return SKIPPED
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        table = collect(planted, builds, pool)
    failures = 0
    for (words, seed), lines in table.items():
        if len(set(lines.values())) > 1 or not HASH.match(next(iter(lines.values()))):
            failures += 1
            print(f"FAILED: {words}, seed {seed}:")
            for who, line in lines.items():
                print(f"  {who:16} {line}")
    for words in PROGRAMS:
        different = {lines["planted"].split(" switches")[0]
                     for (name, _), lines in table.items() if name == " ".join(words)}
        if len(different) < len(SEEDS) * 3 // 4:
            failures += 1
            print(f"FAILED: {' '.join(words)}: only {len(different)} schedules from {len(SEEDS)} seeds")
    who = ", ".join(next(iter(table.values())))
    print(f"{len(table) - failures} of {len(table)} schedules are the same in {who}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
