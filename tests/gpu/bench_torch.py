#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bench_torch: what gpurt-record takes from programs of PyTorch. Rounds of three by turns, every second one the other way
round: bare, under gpurt-record, and with CUPTI making the same kinds of records for nobody (cupti_peer); each runs all
loops of torch_loops.py. One process differs from the next, so what counts is the median of the rounds' ratios, with its
quartiles. Beside them, in fewer runs, the torch profiler, and gpurt-record following each kernel of graphs
(default,nodes). Before any time is believed, the log must have lost nothing, and hold as many kernels in each run.

BENCH_TORCH_ROUNDS: 10 unless told; BENCH_TORCH_OTHERS: runs of the other two, a fifth of that; BENCH_TORCH_LOOPS: which
loops, all unless told; BENCH_TORCH_CUPTI: gpurt-record's words, default unless told. Linked into the folder of the
programs, which it finds by its name."""
import json
import os
import subprocess
import sys
import tempfile
from statistics import median, quantiles

BIN = os.path.dirname(os.path.abspath(sys.argv[0]))
LOOPS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "torch_loops.py")
PEER = os.path.join(BIN, "../tests/libcupti_peer.so")
SKIPPED = 77
ROUNDS = int(os.environ.get("BENCH_TORCH_ROUNDS", 10))
OTHERS = int(os.environ.get("BENCH_TORCH_OTHERS", max(1, ROUNDS // 5)))
NAMES = os.environ.get("BENCH_TORCH_LOOPS", "").split()
WORDS = os.environ.get("BENCH_TORCH_CUPTI", "default")
LIMIT_PERCENT = {"train": 2, "infer": 2, "graph": 2}
if WORDS == "sampled":
    LIMIT_PERCENT = {"train": 1, "infer": 1, "graph": 1, "train_short": 4, "infer_short": 4, "triton": 5}


def run(line, **settings):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_INJECTION")}
    done = subprocess.run(line, capture_output=True, text=True, timeout=120, env={**environment, **settings})
    if done.returncode == SKIPPED:
        print("bench_torch:", done.stderr.strip(), file=sys.stderr)
        sys.exit(SKIPPED)
    if done.returncode != 0:
        sys.exit(f"bench_torch: {' '.join(line)}: status {done.returncode}\n{done.stderr[-2000:]}")
    return done.stdout


def times(*more, before=(), **settings):
    return json.loads(run([*before, sys.executable, LOOPS, "time", *NAMES, *more], **settings).splitlines()[-1])


def watched(folder, kinds=WORDS):
    """Times under gpurt-record, and how many kernels and graphs it saw."""
    log = os.path.join(folder, "log.gplog")
    if os.path.exists(log):
        os.unlink(log)
    took = times(before=[os.path.join(BIN, "gpurt-record"), "-q", "--cupti", kinds, "-o", log, "--"])
    stat = json.loads(run([os.path.join(BIN, "gpurt-log"), "stat", "--json", log]))
    collector = stat["activity"]["collector"]
    if stat["dropped"] or collector["bad"] or collector["cupti_dropped"] or collector["state"] != "on":
        sys.exit(f"bench_torch: records are missing: {stat['dropped']} dropped, {collector}")
    return took, (stat["activity"]["kernels"], stat["activity"]["graphs"]), stat["bytes"] / stat["records"]


def row(case, value, unit, peer=None, peer_value=0.0):
    beside = f"{peer}\t{peer_value:.4g}\t{value / peer_value:.3f}" if peer else "-\t-\t-"
    print(f"bench_torch\t{case}\t{value:.4g}\t{unit}\t{beside}", flush=True)


def added(case, recorded, beside, loop, *limit):
    """How much longer a step takes than beside it, by rounds."""
    percent = [100 * (r[loop] / b[loop] - 1) for r, b in zip(recorded, beside)]
    row(case, median(percent), "percent", *limit)
    if len(percent) > 1:
        first, _, third = quantiles(percent, method="inclusive")
        row(f"{case}_q1", first, "percent")
        row(f"{case}_q3", third, "percent")


def rounds(folder):
    """Times bare, under gpurt-record and with CUPTI alone; and of the logs the counts and bytes a record."""
    bare, recorded, alone, counts, bytes_each = [], [], [], [], []

    def watch():
        took, count, size = watched(folder)
        recorded.append(took)
        counts.append(count)
        bytes_each.append(size)
    turn = [lambda: bare.append(times()), watch]
    if os.path.exists(PEER):
        turn.append(lambda: alone.append(times(CUDA_INJECTION64_PATH=PEER)))
    for number in range(ROUNDS):
        for one in turn if number % 2 == 0 else reversed(turn):
            one()
    return bare, recorded, alone, counts, bytes_each


def others(folder):
    """Times under gpurt-record that follows kernels of graphs, its counts, and times under the torch profiler."""
    nodes, counts, profiled = [], [], []
    for _ in range(OTHERS):
        took, count, _ = watched(folder, "default,nodes")
        nodes.append(took)
        counts.append(count)
        profiled.append(times("--profiler"))
    return nodes, counts, profiled


def main():
    times("train_short")  # the driver and the files of PyTorch are warm from here on
    with tempfile.TemporaryDirectory() as folder:
        bare, recorded, alone, counts, bytes_each = rounds(folder)
        nodes, by_nodes, profiled = others(folder)
    if len(set(counts)) != 1:
        sys.exit(f"bench_torch: not the same kernels and graphs in each run: {counts}")
    if WORDS == "default" and (not NAMES or "graph" in NAMES) and (
            counts[0][1] == 0 or any(launches or count <= counts[0][0] for count, launches in by_nodes)):
        sys.exit(f"bench_torch: graphs whole {counts[0]}, and by their nodes {by_nodes}")
    print("bench\tcase\tvalue\tunit\tpeer\tpeer_value\tratio")
    for loop in bare[0]:
        base = median(t[loop] for t in bare)
        row(f"{loop}_step", median(t[loop] for t in recorded), "ns", "bare", base)
        limit = ("limit", LIMIT_PERCENT[loop]) if loop in LIMIT_PERCENT else ()
        added(f"{loop}_added", recorded, bare, loop, *limit)
        if alone:
            row(f"{loop}_cupti_alone", median(t[loop] for t in alone), "ns", "bare", base)
            added(f"{loop}_over_cupti", recorded, alone, loop)
        row(f"{loop}_nodes", median(t[loop] for t in nodes), "ns", "bare", base)
        row(f"{loop}_torch_profiler", median(t[loop] for t in profiled), "ns", "bare", base)
    row("kernels", counts[0][0], "records")
    row("graphs", counts[0][1], "records")
    row("record_in_file", median(bytes_each), "bytes", "limit", 12)
    return 0


if __name__ == "__main__":
    sys.exit(main())
