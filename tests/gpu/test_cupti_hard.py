#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_cupti_hard.py FOLDER-OF-PROGRAMS FOLDER-OF-TESTS: the collector on a GPU, under programs that are hard on it: memory that
comes and goes, pools, more threads than there are buffers, another library that takes CUPTI's buffers, a recorder that comes late."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import traceback

BIN, TESTS = sys.argv[1:3]
ENV = {name: value for name, value in os.environ.items() if name not in ("GPURT_CUPTI", "CUDA_INJECTION64_PATH")}
MIB = 1 << 20


def read(log):
    """Returns: what the log adds up to, and its text."""
    sums = subprocess.run([f"{BIN}/gpurt-log", "stat", "--json", log], capture_output=True, text=True, check=True)
    text = subprocess.run([f"{BIN}/gpurt-log", "cat", log], capture_output=True, text=True, check=True)
    sums = json.loads(sums.stdout)
    return dict(sums["activity"], dropped=sums["dropped"]), text.stdout


def record(kinds, *words, program="cupti_hard", **settings):
    with tempfile.TemporaryDirectory() as folder:
        log = f"{folder}/run.gplog"
        done = subprocess.run([f"{BIN}/gpurt-record", "-q", "-o", log, "--", f"{TESTS}/{program}", *map(str, words)],
                              capture_output=True, text=True, timeout=120, env=dict(ENV, GPURT_CUPTI=kinds, **settings))
        assert done.returncode == 0, (words, done)
        return read(log)


def of_kind(sums, kind):
    return [row for row in sums["memory_list"] if row["kind"] == kind]


def check_memory():
    """What is held at the end, and was at most."""
    sums, text = record("all", "memory")
    device, = of_kind(sums, "device")
    host, = of_kind(sums, "pinned")
    told = sums["memory_list"], re.findall(".* memory .*", text)
    assert (device["bytes"], device["peak_bytes"], device["takes"], device["gives"]) == (2 * MIB, 6 * MIB, 3, 2), told
    assert (host["bytes"], host["peak_bytes"], host["takes"], host["gives"]) == (0, 4 * MIB, 1, 1), told
    assert sums["memory_about"]["gives_alone"] == sums["memory_about"]["gives_missed"] == 0, (sums["memory_about"], told)


def check_pool():
    """A pool of the program's own, and what was in it."""
    sums, text = record("all", "pool")
    told = sums["memory_list"], sums["pool_list"], re.findall(".* (?:memory|pool) .*", text)
    for what in "made", "trimmed", "destroyed":
        assert re.search(f" pool {what} at 0x", text), told
    assert [pool["last"] for pool in sums["pool_list"]].count("pool destroyed") == 1, told
    taken = [row for row in sums["memory_list"] if row["takes"] >= 4]
    assert len(taken) == 1 and taken[0]["gives"] == 4 and taken[0]["bytes"] == 0 and taken[0]["peak_bytes"] >= 4 * MIB, told


def check_crowd():
    """More threads than there are buffers: each launch is kept, or counted as lost."""
    sums, _ = record("kernels", "crowd", 300, 50)
    assert (sums["kernels"], sums["dropped"]) == (300 * 50, 0), sums
    sums, _ = record("kernels", "crowd", 600, 50)
    assert sums["kernels"] + sums["dropped"] == 600 * 50 and sums["dropped"] > 0, sums


def check_stolen():
    """Another library registers with CUPTI after us: it is told of, and what came before is there."""
    sums, text = record("default", "stolen", 8, f"{TESTS}/libcupti_peer.so", GPURT_NVML="off")
    warnings = re.findall(" WARN .*another tool has taken CUPTI's buffers", text)
    assert len(warnings) == 1, re.findall(".* WARN .*", text)
    assert 9000 <= sums["kernels"] < 50000, sums["kernels"]


def check_calls():
    """Calls go by their names, and each launch of a kernel is one."""
    sums, _ = record("all", "mix", program="cupti_plain")
    calls = {row["name"]: row["count"] for row in sums["call_list"]}
    launches = sum(count for name, count in calls.items() if re.fullmatch(r"cudaLaunchKernel(ExC)?(_v\d+)?", name))
    assert launches == 50, calls  # 10 of them into a graph
    assert not [name for name in calls if not re.fullmatch(r"(cuda|cu)[A-Z]\w*|\(all others\)", name)], calls


def check_later():
    """A collector that sleeps until a recorder comes: from then on kernels are there, and nothing is missing."""
    asleep = dict(ENV, GPURT_CUPTI="later", CUDA_INJECTION64_PATH=f"{BIN}/../lib/libgpurt-inject.so")
    with tempfile.TemporaryDirectory() as folder, \
            subprocess.Popen([f"{TESTS}/cupti_hard", "while", "6"], env=asleep, stderr=subprocess.PIPE) as program:
        time.sleep(3)
        done = subprocess.run([f"{BIN}/gpurt-record", "-q", "-o", f"{folder}/run.gplog", "-p", str(program.pid)],
                              capture_output=True, text=True, timeout=60, env=ENV)
        said = program.stderr.read()
        assert (done.returncode, program.wait()) == (0, 0), (done, program.returncode, said)
        sums, text = read(f"{folder}/run.gplog")
    assert 5000 <= sums["kernels"] < 60000 and sums["dropped"] == 0, sums["kernels"]
    assert sums["collector"]["state"] == "on", sums["collector"]
    assert re.search(r" kernel tick\(unsigned int\*\): [0-9]+ ns, grid 1,1,1 block 32,1,1", text), text[:1000]


failed = 0
for check in check_memory, check_pool, check_crowd, check_calls, check_later, check_stolen:
    try:
        check()
    except (AssertionError, subprocess.SubprocessError, ValueError, KeyError):
        failed += 1
        traceback.print_exc()
sys.exit(1 if failed else None)
