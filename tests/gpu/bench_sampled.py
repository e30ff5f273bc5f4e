#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_sampled: how near and how soon what samples tell is, for cupti_lines. A share by samples beside the exact records
of the same run; how long after a kernel's launch its first line is in the log, and on the screen of gpurt-top; how long
after its limit a hang is told.

Linked into the folder of the programs, which it finds by its name."""
import json
import os
import subprocess
import sys
import tempfile
import time
from statistics import median

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tui"))
from terminal import Terminal  # noqa: E402

BIN = os.path.dirname(os.path.abspath(sys.argv[0]))
APP = os.path.join(BIN, "../tests/cupti_lines")
SKIPPED = 77
ROUNDS = 3
LIMIT_MS = 1000
SCREEN_S = 10


def program(name):
    return os.path.join(BIN, name)


def bare():
    return {k: v for k, v in os.environ.items() if not k.startswith(("GPURT_", "CUDA_INJECTION"))}


def record(folder, words, *line, options=()):
    """The log, what the program wrote, and the lines of the recorder with the time of each."""
    log = os.path.join(folder, "run.gplog")
    if os.path.exists(log):
        os.unlink(log)
    told = []
    with subprocess.Popen([program("gpurt-record"), "-q", "--cupti", words, "-o", log, *options, "--", APP, *line],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=bare()) as run:
        for text in run.stderr:
            told.append((time.time(), text))
        wrote = run.stdout.read()
    if run.returncode:
        sys.exit(f"bench_sampled: {line}: status {run.returncode}: {told}")
    return log, wrote, told


def stat(log):
    return json.loads(subprocess.run([program("gpurt-log"), "stat", "--json", log], capture_output=True, text=True,
                                     check=True, env=bare()).stdout)


def share_error(folder):
    """Points between the share by samples and by exact times."""
    kernels = [k for k in stat(record(folder, "default,lines", "pairs", "2000")[0])["activity"]["kernel_list"]
               if k["name"].startswith("stand_")]
    if any(k["sampled_percent"] is None for k in kernels):
        print("bench_sampled: no samples: counters may be for administrators", file=sys.stderr)
        sys.exit(SKIPPED)
    samples, times = sum(k["sampled_percent"] for k in kernels), sum(k["total_ns"] for k in kernels)
    return max(abs(100 * k["sampled_percent"] / samples - 100 * k["total_ns"] / times) for k in kernels)


def line_ms(folder):
    """As whoever follows the log finds it."""
    log = os.path.join(folder, "run.gplog")
    if os.path.exists(log):
        os.unlink(log)
    with subprocess.Popen([program("gpurt-record"), "-q", "--cupti", "sampled", "-o", log, "--", APP, "spin", "1500"],
                          stdout=subprocess.PIPE, text=True, env=bare()) as run:
        began, found = int(run.stdout.readline()), None
        while not found and run.poll() is None:
            lines = subprocess.run([program("gpurt-log"), "lines", log], capture_output=True, text=True, env=bare(),
                                   check=False).stdout
            found = time.time() if "stand_spin" in lines else None
    return found * 1e3 - began / 1e6


def hang_ms(folder):
    _, wrote, told = record(folder, "sampled", "spin", "3000", options=("--hang-after", f"{LIMIT_MS / 1000:g}"))
    at = next(when for when, text in told if "has not ended" in text)
    return at * 1e3 - int(wrote) / 1e6 - LIMIT_MS


def screen_ms(folder):
    """gpurt-top in a terminal of its own, at the view of lines: until the kernel's name stands on it. Plain pictures, which
    come where there is no screen, do not count: theirs is another pace. Returns: None where there is none."""
    began = os.path.join(folder, "began")
    terminal = Terminal(program("gpurt-top"),
                        ["gpurt-top", "--", "sh", "-c", f"exec {APP} spin 3000 >{began}"],
                        {**bare(), "TERM": "xterm"})
    found, end, there, drawn = None, time.time() + SCREEN_S, True, False
    while there and not found and time.time() < end:
        there = terminal.look(0.05)
        if not drawn and b"\x1b[" in terminal.raw:
            drawn = True
            terminal.type(b"9")
        found = time.time() if drawn and "stand_spin" in terminal.screen.text() else None
    terminal.close()
    if b"no screen: " in terminal.raw:
        return None
    if not found:
        sys.exit(f"bench_sampled: no line on the screen in {SCREEN_S} s; it shows:\n{terminal.screen.text()}")
    with open(began, encoding="ascii") as file:
        return found * 1e3 - int(file.read()) / 1e6


def row(case, values, unit, limit):
    print(f"bench_sampled\t{case}\t{median(values):.4g}\t{unit}\tlimit\t{limit}\t{median(values) / limit:.3f}")
    print(f"bench_sampled\t{case}_most\t{max(values):.4g}\t{unit}\tlimit\t{limit}\t{max(values) / limit:.3f}", flush=True)


def main():
    cases = [("share_error", share_error, "points", 1), ("line_in_log", line_ms, "ms", 700),
             ("hang_told", hang_ms, "ms", 1000)]
    if os.path.exists(program("gpurt-top")):
        cases.append(("line_on_screen", screen_ms, "ms", 700))
    with tempfile.TemporaryDirectory() as folder:
        share_error(folder)  # the driver is warm from here on
        print("bench\tcase\tvalue\tunit\tpeer\tpeer_value\tratio")
        for case, measure, unit, limit in cases:
            values = [measure(folder) for _ in range(ROUNDS)]
            if None in values:
                print(f"bench_sampled: {case} is left out: gpurt-top has no screen here", file=sys.stderr)
            else:
                row(case, values, unit, limit)
    return 0


if __name__ == "__main__":
    sys.exit(main())
