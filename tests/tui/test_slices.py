#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bodies of tasks in a log and on a timeline: which there are, how long they took, who made them ready and where.
Arguments: folder of the programs, tasks_app."""
import collections
import json
import os
import re
import subprocess
import sys
import tempfile

from perfetto_trace import Perfetto

BIN, APP = sys.argv[1:3]
SPENT_MS = 60
ROW = re.compile(
    r"task (?P<name>\w+) ran for (?P<ns>\d+) ns, bodies (?P<bodies>\d+), stands for (?P<of>\d+); ready (?P<ready>\d+) ns "
    r"before, priority (?P<priority>-?\d+), status (?P<status>-?\d+); task (?P<task>\w+), made ready by (?P<by>\w+), "
    r"at place (?P<place>\w+)$"
)
NOWHERE = 0xFFFFFFFF
TIMEOUT, HANDLE = "GPURT_E_TIMEOUT", "GPURT_E_HANDLE"


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, (command, done)
    return done.stdout


def record(scene, ms=SPENT_MS):
    """Rows of its log; what the executor counted; the log itself."""
    log = scene + ".gplog"
    environment = {**os.environ, "GPURT_LOG": log, "GPURT_RING_BYTES": "262144"}
    said = subprocess.run([APP, scene, str(ms)], env=environment, capture_output=True, text=True, timeout=240)
    assert said.returncode == 0, said
    stat = json.loads(run(f"{BIN}/gpurt-log", "stat", "--json", log))
    objects = stat["objects"]["list"]
    counted = next(o["fields"]["sliced"] for o in objects if o["class"] == "executor")
    runs = {o["fields"]["name"]: o["fields"]["runs"] for o in objects if o["class"] == "task_kind"}
    rows = [json.loads(line) for line in run(f"{BIN}/gpurt-log", "export", "--to", "jsonl", "-o", "-", log).splitlines()]
    rows = [r for r in rows if r["kind"] == "task"]
    assert f"{counted} slices" in said.stdout and stat.get("dropped", 0) == 0, (counted, said.stdout)
    return [{**r, **ROW.match(r["msg"]).groupdict()} for r in rows], counted, runs, log


def check_rows(rows, runs):
    assert all(r["name"] == ROW.match(r["msg"])["name"] and r["dur_ns"] == int(r["ns"]) for r in rows)
    failed = {(r["name"], int(r["status"])) for r in rows if r["status"] != "0"}
    assert {name for name, _ in failed} == {"mark", "crowd", "each"} and len(failed) == 3, failed
    (spent,) = (r for r in rows if r["name"] == "spends")
    assert 0.99 * SPENT_MS * 10**6 <= spent["dur_ns"] < 60 * 10**9, spent

    # Each stands for those of its warp since the one before.
    stands = sum(int(r["of"]) for r in rows)
    assert len(rows) <= stands <= sum(runs.values()), (len(rows), stands, runs)
    first = {}
    for r in rows:
        first.setdefault((r["block"], r["warp"]), r)
    assert all(int(r["of"]) == int(r["bodies"]) or r["name"] == "crowd" for r in first.values()), first


def check_causes(rows):
    then = next(r for r in rows if r["name"] == "mark" and r["status"] != "0")
    assert then["priority"] == "-2" and then["by"] not in ("0x0", then["task"]), then
    made = collections.Counter(r["name"] for r in rows if r["by"] == "0x0")
    assert set(made) | {"mark"} == {"mark", "spends", "fib", "fan", "crowd", "each"}, made

    # Children by their parent, and its second run by one of them.
    known = {r["task"] for r in rows if r["name"] == "fib"}
    assert sum(r["name"] == "fib" and r["by"] in known - {r["task"]} for r in rows) > 10


def check_timeline(rows, log):
    path = log + ".perfetto"
    run(f"{BIN}/gpurt-log", "export", "--to", "perfetto", "-o", path, log)
    with open(path, "rb") as file:
        trace = Perfetto(file.read(), min(r["ts_ns"] for r in rows))
    slices = [s for s in trace.slices if s["name"] in {r["name"] for r in rows}]
    assert len(slices) == len(rows) and not trace.unfinished, (len(slices), len(rows))
    assert all("/SM " in s["where"] and not s["inside"] and " +" not in s["where"] for s in slices), slices[:3]

    # An arrow from where and when each was ready, if it was in a queue.
    ready = {i["flow"]: i for i in trace.instants if i["name"] == "ready"}
    arrows = [s for s in slices if s["flow"] is not None]
    assert len(arrows) == len(ready) == sum(int(r["place"], 16) != NOWHERE for r in rows) > 10
    for s in arrows:
        at = ready[s["flow"]]
        assert at["start"] <= s["start"] and "/warp slot " in at["where"], (at, s)
    places = {(int(r["place"], 16) >> 8, int(r["place"], 16) & 255) for r in rows if int(r["place"], 16) != NOWHERE}
    assert {re.search(r"SM (\d+)/warp slot (\d+)", i["where"]).groups() for i in ready.values()} == {
        (str(sm), str(slot)) for sm, slot in places
    }


def check_rare():
    """With a slice a second: long bodies all the same, and the first 16 that fail in a pause."""
    rows, counted, runs, _ = record("rare", 110)
    long = [r["dur_ns"] for r in rows if r["name"] == "spends" and r["dur_ns"] >= 0.99 * 330 * 10**6]
    assert len(long) == 3, rows
    failed = sum(r["status"] != "0" for r in rows)
    assert 16 <= failed <= 20 and len(rows) == counted < 60 < sum(runs.values()), (failed, counted, runs)


def main():
    check_rare()
    rows, counted, runs, log = record("slices")
    assert len(rows) == counted > 30, (len(rows), counted)
    check_rows(rows, runs)
    check_causes(rows)
    check_timeline(rows, log)
    assert run(f"{BIN}/gpurt-log", "cat", log).count(" ran for ") == len(rows)
    assert " ran for " not in run(f"{BIN}/gpurt-log", "cat", "--level", "info", log)
    fibs = run(f"{BIN}/gpurt-log", "cat", "-F", "kind=task name=fib", log)
    assert len(fibs.splitlines()) == sum(r["name"] == "fib" for r in rows)
    assert record("unsliced")[:2] == ([], 0)


with tempfile.TemporaryDirectory() as folder:
    for name in ("GPURT_DRAIN", "GPURT_LEVEL", "GPURT_OFF"):
        os.environ.pop(name, None)
    os.environ.update(XDG_RUNTIME_DIR=folder, GPURT_CUPTI="off", TZ="UTC", LC_ALL="C.UTF-8")
    os.environ.setdefault("GPURT_BACKEND", "cpu")
    BIN, APP = os.path.abspath(BIN), os.path.abspath(APP)
    os.environ["PATH"] = BIN + ":" + os.environ["PATH"]
    os.chdir(folder)
    main()
