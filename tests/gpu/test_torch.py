#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_torch.py FOLDER-OF-PROGRAMS: PyTorch under gpurt-record, on a GPU. The torch profiler, in a run of its own, says
which kernels the steps of torch_loops.py launch; the log must have each of them, by name and as often, with nothing
lost; the timeline has them under their calls, and the program's ranges inside each other."""
import json
import os
import subprocess
import sys
import tempfile
from collections import Counter

HERE = os.path.dirname(os.path.realpath(__file__))
sys.path.insert(0, os.path.join(HERE, "../tui"))
from perfetto_trace import Perfetto  # noqa: E402

BIN = os.path.realpath(sys.argv[1])
LOOPS = os.path.join(HERE, "torch_loops.py")
SKIPPED = 77
NAME_BYTES = 4056  # of a definition's text: what is longer is cut
EACH = 3  # steps of a loop
LAUNCHED_AT_ONCE = 50  # kernels with one call's number: those of a graph


def bare(**settings):
    return {**{k: v for k, v in os.environ.items() if not k.startswith(("GPURT_", "CUDA_INJECTION"))}, **settings}


def run(*line, **settings):
    return subprocess.run(line, capture_output=True, text=True, timeout=200, env=bare(**settings))


def recorded(log, *line, **settings):
    done = run(os.path.join(BIN, "gpurt-record"), "-q", "-o", log, "--", *line, **settings)
    stat = run(os.path.join(BIN, "gpurt-log"), "stat", "--json", log)
    assert stat.returncode == 0, stat.stderr
    return done, json.loads(stat.stdout)


def timeline(log):
    out = log + ".perfetto"
    done = run(os.path.join(BIN, "gpurt-log"), "export", "--to", "perfetto", log, "-o", out)
    assert done.returncode == 0, done.stderr
    with open(out, "rb") as file:
        return Perfetto(file.read(), 0)


def cut(name):
    return name.encode()[:NAME_BYTES].decode(errors="replace")


def check_lossless(stat):
    watched = stat["activity"]["collector"]
    assert stat["dropped"] == 0 and stat["torn_frames"] == 0, stat
    assert (watched["bad"], watched["cupti_dropped"], watched["starved"], watched["state"]) == (0, 0, 0, "on"), watched
    assert stat["activity"]["untimed"] == 0
    mangled = [k["name"] for k in stat["activity"]["kernel_list"] if k["name"].startswith("_Z")]
    assert not mangled, mangled


def check_counts(trace, steps, reference):
    """The kernels, copies and fills that ran in the steps are those that the profiler saw."""
    inside = [s for s in trace.slices if steps["start"] <= s["start"] <= steps["start"] + steps["us"]]
    kernels = Counter(s["name"] for s in inside if s["in"] == "kernel")
    wanted = Counter({})
    for name, count in reference["kernels"].items():
        wanted[cut(name)] += count
    assert kernels == wanted, f"more: {kernels - wanted}; fewer: {wanted - kernels}"
    assert sum(kernels.values()) > 1000
    copies, fills = (sum(s["in"] == what for s in inside) for what in ("copy", "fill"))
    assert (copies, fills) == (reference["copies"], reference["fills"]), (copies, fills)
    return sum(kernels.values()), copies, fills


def check_ranges(trace):
    """Ranges of the program lie in each other as it pushed them."""
    found = Counter((*s["inside"], s["name"]) for s in trace.slices if s["where"].endswith("/ranges"))
    wanted = {("steps",): 1}
    for loop in ("train", "train_short"):
        wanted[("steps", loop)] = EACH
        wanted.update({("steps", loop, part): EACH for part in ("forward", "backward", "optimizer")})
    for loop in ("infer", "infer_short"):
        wanted.update({("steps", loop): EACH, ("steps", loop, "forward"): EACH})
    wanted.update({("steps", "graph"): EACH, ("steps", "graph", "replay"): EACH})
    for path, count in wanted.items():
        assert found[path] == count, (path, found[path], sorted(found))


def check_calls(trace):
    """A kernel has the number of the call that launched it, which began before the kernel did."""
    calls = {}
    for s in trace.slices:
        if "call" in s["args"] and "/thread" in s["where"]:
            begin = calls.setdefault(s["args"]["call"], s["start"])
            calls[s["args"]["call"]] = min(begin, s["start"])
    orphans = [s["name"] for s in trace.slices if s["in"] == "kernel" and s["args"]["call"] not in calls]
    assert not orphans, orphans[:5]
    early = [s for s in trace.slices if s["in"] == "kernel" and s["start"] + 20 < calls[s["args"]["call"]]]
    assert not early, early[:3]
    at_once = Counter(s["args"]["call"] for s in trace.slices if s["in"] == "kernel")
    assert sum(count > LAUNCHED_AT_ONCE for count in at_once.values()) >= EACH, "no replays of a graph"


def check_graphs(log):
    """By default a replay is one record: as many as there were, with nothing of what is in them."""
    done, stat = recorded(log, sys.executable, LOOPS, "count", "graph")
    assert done.returncode == 0, done.stderr
    check_lossless(stat)
    graphs = stat["activity"]["graph_list"]
    assert len(graphs) == 1 and graphs[0]["count"] == 2 * EACH and graphs[0]["untimed"] == 0, graphs
    assert graphs[0]["nodes"] > LAUNCHED_AT_ONCE and graphs[0]["min_ns"] > 0, graphs
    trace = timeline(log)
    replays = [s for s in trace.slices if s["in"] == "graph"]
    assert len(replays) == 2 * EACH and not any("node" in s["args"] for s in trace.slices), len(replays)


def check_clash(log):
    """Two collectors in one process: ours was first, the profiler is refused; the program goes on."""
    done, stat = recorded(log, sys.executable, LOOPS, "count", "--profiler", "train_short")
    assert done.returncode == 0, done.stderr
    check_lossless(stat)
    assert stat["activity"]["kernels"] > 0


def main():
    reference = run(sys.executable, LOOPS, "count", "--profiler")
    if reference.returncode == SKIPPED:
        print(reference.stderr.strip())
        return SKIPPED
    assert reference.returncode == 0, reference.stderr
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, "steps.gplog")
        done, stat = recorded(log, sys.executable, LOOPS, "count", GPURT_CUPTI="all")
        assert done.returncode == 0, done.stderr
        check_lossless(stat)
        trace = timeline(log)
        steps = next(s for s in trace.slices if s["name"] == "steps")
        counts = check_counts(trace, steps, json.loads(reference.stdout.splitlines()[-1]))
        check_ranges(trace)
        check_calls(trace)
        check_graphs(os.path.join(folder, "graphs.gplog"))
        check_clash(os.path.join(folder, "clash.gplog"))
    print("ok: %d kernels, %d copies, %d fills, as the torch profiler has them" % counts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
