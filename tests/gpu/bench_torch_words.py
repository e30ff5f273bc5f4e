#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_torch_words: what each choice of records takes from loops of PyTorch that wait for their launches. By turns, every
second round the other way: bare, and under gpurt-record with each of CHOICES. A process runs one loop for some seconds
and gives its step over a fixed piece of Python beside it, because one process runs on a faster host than the next. What
counts is the median of these.

BENCH_TORCH_ROUNDS: 3 unless told; BENCH_TORCH_LOOPS: infer_short and train_short unless told. Linked into the folder of
the programs, which it finds by its name."""
import json
import os
import subprocess
import sys
import tempfile
from statistics import median

BIN = os.path.dirname(os.path.abspath(sys.argv[0]))
LOOPS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "torch_loops.py")
SKIPPED = 77
ROUNDS = int(os.environ.get("BENCH_TORCH_ROUNDS", 3))
NAMES = os.environ.get("BENCH_TORCH_LOOPS", "infer_short train_short").split()
CHOICES = {  # what a row calls it: gpurt-record's options
    "default": ["--cupti", "default"],
    "default and host-waits": ["--cupti", "default,host-waits"],
    "default and waits": ["--cupti", "default,waits"],
    "sampled": ["--cupti", "sampled"],
    "budget 4": ["--budget", "4"],
}
LIMIT_PERCENT = {"sampled": 4, "budget 4": 4}


def one(folder, name, choice):
    log, before = os.path.join(folder, "log.gplog"), []
    if choice:
        before = [os.path.join(BIN, "gpurt-record"), "-q", *CHOICES[choice], "-o", log, "--"]
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_INJECTION")}
    done = subprocess.run([*before, sys.executable, LOOPS, "pieces", name], capture_output=True, text=True, timeout=120,
                          env=environment)
    if done.returncode == SKIPPED:
        print("bench_torch_words:", done.stderr.strip(), file=sys.stderr)
        sys.exit(SKIPPED)
    if os.path.exists(log):
        os.unlink(log)
    if done.returncode != 0:
        sys.exit(f"bench_torch_words: {name}, {choice}: status {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def row(case, value, unit, peer, peer_value):
    print(f"bench_torch_words\t{case}\t{value:.4g}\t{unit}\t{peer}\t{peer_value:.4g}\t{value / peer_value:.3f}", flush=True)


def loop(folder, name):
    turn = [None, *CHOICES]
    took = {choice: [] for choice in turn}
    for number in range(ROUNDS):
        for choice in turn if number % 2 == 0 else reversed(turn):
            took[choice].append(one(folder, name, choice))
    bare = median(t["ratio"] for t in took[None])
    pieces = [t["piece"] for runs in took.values() for t in runs]
    row(f"{name}, slowest piece of Python", max(pieces), "ns", "fastest", min(pieces))
    row(f"{name}, bare, most of the rounds", max(t["ratio"] for t in took[None]), "pieces", "median", bare)
    for choice in CHOICES:
        ratios = [t["ratio"] for t in took[choice]]
        row(f"{name}, {choice}", median(ratios), "pieces", "bare", bare)
        row(f"{name}, {choice}, least", min(ratios), "pieces", "bare", bare)
        if choice in LIMIT_PERCENT:
            row(f"{name}, {choice}, added", 100 * (median(ratios) / bare - 1), "percent", "limit", LIMIT_PERCENT[choice])


def main():
    print("bench\tcase\tvalue\tunit\tpeer\tpeer_value\tratio")
    with tempfile.TemporaryDirectory() as folder:
        one(folder, NAMES[0], None)  # the driver and the files of PyTorch are warm from here on
        for name in NAMES:
            loop(folder, name)
    return 0


if __name__ == "__main__":
    sys.exit(main())
