#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-log export, on the log of tests/gen/course.c: Perfetto's bytes are taken apart by a decoder that knows
nothing of the one that wrote them, its slices are nested as a viewer nests them, and every event must be where the
course has it; and those of processes that run it at once, each where its own process has it. Where Perfetto's Python
package is installed, its own schema is asked as well. Arguments: folder of the programs, make_course, make_programs,
"sanitized" where these are."""
import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile

import perfetto_official
from perfetto_trace import Perfetto, fields, text

LOG = os.path.join(sys.argv[1], "gpurt-log")
MAKE, MAKE_PROGRAMS = sys.argv[2:4]
START = 1767225600000000000
MEMORY_KIB = 1 << 20 if "sanitized" in sys.argv else 2048  # by which ten times the rows may differ


def run(*arguments, status=0):
    done = subprocess.run([LOG, *arguments], capture_output=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def peak_kib(*arguments):
    """Peak memory of one run."""
    child = subprocess.Popen([LOG, *arguments], stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = 0
    assert status == 0, (arguments, status)
    return usage.ru_maxrss


# ---- what the course has --------------------------------------------------------------------------------------------

MAIN, OTHER, GPU = "trainer[4242]/thread 4242", "trainer[4242]/thread 4243", "GPU 0, Test GPU"
SLICES = [  # where, name, start, length, inside
    (MAIN, "cudaLaunchKernel", 110, 20, []),
    (MAIN, "cuLaunchKernel", 112, 10, ["cudaLaunchKernel"]),
    (MAIN, "cudaMemcpyAsync", 300, 30, []),
    (MAIN, "cuMemcpyHtoDAsync", 300, 10, ["cudaMemcpyAsync"]),
    (MAIN + "/ranges", "step", 0, 1000, []),
    (MAIN + "/ranges", "forward", 0, 500, ["step"]),
    (MAIN + "/ranges", "matmul", 100, 100, ["step", "forward"]),
    (MAIN + "/ranges", "backward", 500, 500, ["step"]),
    (OTHER + "/ranges", "decode", 100, 300, []),
    (OTHER + "/ranges +1", "load", 0, 300, []),
    ("trainer[4242]/waits", "a stream", 500, 60, []),
    ("trainer[4242]/waits", "an event", 605, 25, []),
    # Why no kernel ran: 400 to 401 a fill did, the host slept from 605 to 630.
    (GPU + "/idle time", "idle", 380, 20, []),
    (GPU + "/idle time", "idle", 401, 199, []),
    (GPU + "/idle time", "completion latency", 610, 20, []),
    (GPU + "/idle time", "launch latency", 630, 30, []),
    (GPU + "/idle time", "launch latency", 661, 39, []),
    ("trainer[4242]/CUPTI's overhead", "loading a module", 20, 5, []),
    (GPU + "/stream 7", "gemm", 150, 100, []),
    (GPU + "/stream 7", "softmax", 250, 50, []),
    (GPU + "/stream 7 +1", "epilogue", 280, 100, []),
    (GPU + "/stream 7 of context 2", "gemm", 150, 10, []),
    (GPU + "/stream 8", "gemm", 600, 10, []),
    (GPU + "/stream 8", "graph 3", 700, 20, []),
    (GPU + "/stream 9", "host to device", 330, 40, []),
    (GPU + "/stream 9", "fill", 400, 1, []),
    (GPU + "/stream 9", r"evil \x1b]0;\x07 \xff name", 660, 1, []),
    ("GPU 1, Test GPU/stream 7 of context 3", "softmax", 150, 10, []),
]
WARP = GPU + "/SM 3/warp slot 5"
INSTANTS = [
    (MAIN, "gemm", 108),
    (OTHER, "step 1", 50),
    (OTHER + "/ranges", "checkpoint", 700),
    (OTHER + "/ranges", "end of a range whose beginning is not in the log", 800),
    (GPU, "take", 10),
    (GPU + "/stream 9", "bad", 650),
    (WARP, "step 1", 160),
    *[(WARP, f"step {i}", 170) for i in (10, 11, 12, 13)],
    (WARP, "index 4711 out of bounds", 900),
    (WARP, "6 lost: the ring was full", 910),
    (GPU, "6 lost: the ring was full", 911),
]


def check_perfetto(trace):
    assert trace.clocks == {6: START, 1: START}, trace.clocks
    found = sorted((s["where"], s["name"], s["start"], s["us"], s["inside"]) for s in trace.slices)
    assert found == sorted(SLICES), "\n".join(str(p) for p in zip(found, sorted(SLICES)) if p[0] != p[1])
    found = sorted((i["where"], i["name"], i["start"]) for i in trace.instants)
    assert found == sorted(INSTANTS), (found, sorted(INSTANTS))
    assert [(s["where"], s["name"], s["start"]) for s in trace.unfinished] == [(OTHER + "/ranges", "unfinished", 600)]
    check_details(trace)
    check_arrows(trace)
    check_counters(trace)


def check_official(path, unfinished):
    if perfetto_official.schema is None:
        return
    with open(path, "rb") as file:
        events, tracks, open_slices = perfetto_official.check(file.read())
    assert events > 10 and tracks > 5 and open_slices == unfinished, (path, events, tracks, open_slices)


def flows_of(slices, key):
    """What those have as `key` that one arrow leads through."""
    by_flow = {}
    for s in slices:
        if s["flow"] is not None:
            by_flow.setdefault(s["flow"], []).append(s[key])
    return by_flow


def check_details(trace):
    node = next(s for s in trace.slices if s["where"].endswith("stream 8") and s["name"] == "gemm")
    assert node["in"] == "kernel" and node["args"] == {
        "grid": "132,2,1",
        "block": "256,1,1",
        "registers": 40,
        "shared bytes": 1024,
        "call": 15,
        "graph": 3,
        "node": 77,
    }, node
    panic = next(i for i in trace.instants if i["in"] == "panic")
    assert panic["args"] == {"level": "PANIC", "file": "gemm.c", "line": 99, "block": 17, "warp": 2, "lanes": 0xF0}
    lanes = [i["args"]["lanes"] for i in trace.instants if i["start"] == 170]
    assert sorted(lanes) == [0x10, 0x20, 0x40, 0x80], lanes
    copy = next(s for s in trace.slices if s["in"] == "copy")
    assert copy["args"] == {"bytes": 1 << 20, "call": 12}, copy
    launch = next(i for i in trace.instants if i["in"] == "launch")
    assert launch["args"]["file"] == "train.c" and launch["args"]["line"] == 31, launch
    assert {s["in"] for s in trace.slices if s["where"].endswith("idle time")} == {"idle"}
    assert {s["args"]["domain"] for s in trace.slices if s["in"] == "range"} == {"torch"}


def check_arrows(trace):
    """From a call to what it started: the same number on both, and on nothing else."""
    by_flow = flows_of(trace.slices, "name")
    assert sorted(by_flow[11]) == ["cuLaunchKernel", "cudaLaunchKernel", "gemm"], by_flow
    assert sorted(by_flow[12]) == ["cuMemcpyHtoDAsync", "cudaMemcpyAsync", "host to device"], by_flow
    assert 30 not in by_flow, "a wait starts nothing"


def check_counters(trace):
    by_track = {}
    for c in trace.counters:
        by_track.setdefault(c["where"], []).append((c["start"], c["value"]))
    assert by_track[GPU + "/SM clock"] == [(0, 1980), (500, 1979)], by_track
    assert by_track["GPU 1, Test GPU/power"] == [(0, 123.457), (500, 123.457)], by_track
    assert by_track[GPU + "/memory"] == [(0, 1 << 30), (500, 1 << 30)]
    assert by_track[GPU + "/kernels ran"] == [(150, 0.261), (100000, 0)], by_track
    gpu1 = "GPU 1, Test GPU/"
    assert by_track[gpu1 + "SMs active"] == [(200, 91.5)] and by_track[gpu1 + "memory throughput"] == [(200, 42.25)]
    assert gpu1 + "tensor cores" not in by_track, "not known is not 0"
    units = {text(t, 2): text(fields(t[8][0]), 6) for t in trace.tracks.values() if 8 in t}
    assert units["power"] == "W" and units["SM clock"] == "MHz", units


def check_chrome(path):
    with open(path, encoding="utf-8") as file:
        trace = json.load(file)
    assert trace["otherData"]["start_ns"] == str(START)
    names = {(e["pid"], e.get("tid")): e["args"]["name"] for e in trace["traceEvents"] if e["ph"] == "M"}
    found = sorted(
        (names[e["pid"], e["tid"]], e["name"], e["ts"], e["dur"]) for e in trace["traceEvents"] if e["ph"] == "X"
    )
    assert found == sorted((w.split("/")[-1], n, t, d) for w, n, t, d, _ in SLICES), found
    assert [e["name"] for e in trace["traceEvents"] if e["ph"] == "B"] == ["unfinished"]
    assert not any(e["ph"] == "E" for e in trace["traceEvents"])
    assert sum(e["ph"] == "i" for e in trace["traceEvents"]) == len(INSTANTS)
    arrows = [(e["ph"], e["id"]) for e in trace["traceEvents"] if e["ph"] in "stf" and e["id"] == 11]
    assert sorted(arrows) == [("f", 11), ("s", 11), ("t", 11)], arrows
    assert any(e["ph"] == "C" and e["name"] == "power" and e["args"] == {"W": 123.456} for e in trace["traceEvents"])


def check_lines(jsonl, table):
    """Both have the same fields; each message of the log is in them, in the same order."""
    with open(jsonl, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    said = [json.loads(line) for line in run("cat", "--jsonl", "course.gplog").stdout.splitlines()]
    assert [(o["ts_ns"], o["msg"]) for o in objects] == [(s["ts_ns"], s["msg"]) for s in said]
    assert len(rows) == len(objects)
    for row, o in zip(rows, objects):
        for key, value in o.items():
            if isinstance(value, int) or ("\\" not in row[key] and "�" not in value):
                assert row[key] == str(value), (key, row, o)
        assert all(key in o or not value for key, value in row.items()), (row, o)
    node = next(o for o in objects if o.get("node") == 77)
    assert (node["name"], node["dur_ns"], node["stream"], node["graph"], node["kind"]) == ("gemm", 10000, 8, 3, "kernel")
    assert next(o for o in objects if o["kind"] == "panic")["sm"] == 3
    assert "dur_ns" not in next(o for o in objects if o.get("name") == "bad")


# ---- several processes ----------------------------------------------------------------------------------------------

PROGRAMS = [  # of tests/gen/make_programs.c: number, name and pid in a trace, pid, how much later
    (0, "trainer", 4242, 4242, 0),
    (1, "trainer", 4343, 4343, 30),
    (2, "trainer (pid 4242, process 2 of the log)", (1 << 22) + 2, 4242, 7),
    (255, "other processes", (1 << 22) + 255, None, 55),
    (200, "process 200 of the log", (1 << 22) + 200, None, 130),
]


def of_program(root, where):
    """A track of the course, as one of several processes has it: its devices lie in it, too. What model GPU 1 is
    differs by process, and nobody says which is whose."""
    alone = "trainer[4242]"
    return root + where[len(alone) :] if where.startswith(alone) else f"{root}/{where.replace('GPU 1, Test GPU', 'GPU 1')}"


def check_perfetto_programs(trace):
    wanted = {"slices": [], "instants": [], "unfinished": []}
    for _, name, pid, _, late in PROGRAMS:
        root = f"{name}[{pid}]"
        wanted["slices"] += [(of_program(root, w), n, t + late, d, inside) for w, n, t, d, inside in SLICES]
        wanted["instants"] += [(of_program(root, w), n, t + late) for w, n, t in INSTANTS]
        wanted["unfinished"].append((of_program(root, OTHER) + "/ranges", "unfinished", 600 + late))
        powers = [(c["start"] - late, c["value"]) for c in trace.counters if c["where"] == of_program(root, GPU) + "/power"]
        assert powers == [(0, 123.456), (500, 123.456)], (root, powers)
        ranks = {trace.path(uuid): t[12][0] for uuid, t in trace.tracks.items()}
        assert ranks[of_program(root, GPU)] < ranks[root + "/GPU 1"], ranks
    found = sorted((s["where"], s["name"], s["start"], s["us"], s["inside"]) for s in trace.slices)
    assert found == sorted(wanted["slices"]), "\n".join(str(p) for p in zip(found, sorted(wanted["slices"])) if p[0] != p[1])
    for kind in ("instants", "unfinished"):
        found = sorted((e["where"], e["name"], e["start"]) for e in getattr(trace, kind))
        assert found == sorted(wanted[kind]), (kind, found)
    by_flow = flows_of(trace.slices, "where")
    assert len(by_flow) == len(PROGRAMS) * len(flows_of((s for s in trace.slices if "[4343]" in s["where"]), "where"))
    assert all(len({where.split("/")[0] for where in tracks}) == 1 for tracks in by_flow.values()), by_flow
    assert any(len(tracks) == 3 for tracks in by_flow.values())


def check_chrome_programs(path):
    with open(path, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    named = [(e["pid"], e["args"]["name"]) for e in events if e["ph"] == "M" and e["name"] == "process_name"]
    processes = dict(named)
    assert len(named) == len(processes) == 3 * len(PROGRAMS) == len(set(processes.values())) + 1, named
    tracks = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "thread_name"}
    for number, name, pid, true_pid, late in PROGRAMS:
        assert processes[pid] == name, (pid, processes)
        told = f"{name} (pid {pid})" if pid == true_pid else name
        gpus = {p for p, n in processes.items() if n in (f"GPU 0, Test GPU of {told}", f"GPU 1 of {told}")}
        assert len(gpus) == 2, (told, processes)
        mine = [e for e in events if e["pid"] == pid or e["pid"] in gpus]
        found = sorted((tracks[e["pid"], e["tid"]], e["name"], round(e["ts"] - late, 3)) for e in mine if e["ph"] == "X")
        assert found == sorted((w.split("/")[-1], n, t) for w, n, t, _, _ in SLICES), (name, found)
        assert sum(e["ph"] == "C" and e["name"] == "power" for e in mine) == 4
        arrows = {e["id"] for e in mine if e["ph"] in "stf"}
        assert arrows == {number << 32 | call for call in (*range(11, 18), *range(21, 25))}, (name, arrows)


def check_lines_programs(jsonl, table):
    with open(jsonl, encoding="utf-8") as file:
        objects = [json.loads(line) for line in file]
    with open(table, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["pid"] for row in rows] == [str(o.get("pid", "")) for o in objects]
    with open("course.jsonl", encoding="utf-8") as file:
        alone = [json.loads(line) for line in file]
    assert all(o["pid"] == 4242 for o in alone)
    for pid in {true_pid for *_, true_pid, _ in PROGRAMS}:
        times = sum(true_pid == pid for *_, true_pid, _ in PROGRAMS)
        said = [o["msg"] for o in objects if o.get("pid") == pid]
        assert sorted(said) == sorted(times * [o["msg"] for o in alone]), pid


def check_programs():
    subprocess.run([MAKE_PROGRAMS, "programs.gplog"], check=True)
    for kind in ("perfetto", "chrome", "jsonl", "csv"):
        run("export", "--to", kind, "programs.gplog", "-o", "programs." + kind)
    with open("programs.perfetto", "rb") as file:
        check_perfetto_programs(Perfetto(file.read(), START))
    check_official("programs.perfetto", len(PROGRAMS))
    check_chrome_programs("programs.chrome")
    check_lines_programs("programs.jsonl", "programs.csv")


# ---- misuse, size ----------------------------------------------------------------------------------------------------


def check_rights():
    """An export is no more open than its log; where it is sent it may not replace another user's file."""
    os.umask(0o022)
    for rights in 0o600, 0o640:
        shutil.copyfile("course.gplog", "shut.gplog")
        os.chmod("shut.gplog", rights)
        run("export", "--to", "csv", "shut.gplog", "-o", "shut.csv")
        run("repair", "shut.gplog", "-o", "shut.new")
        for made in "shut.csv", "shut.new":
            assert os.stat(made).st_mode & 0o777 == rights, (made, oct(os.stat(made).st_mode))
            os.unlink(made)
    if os.geteuid() == 0:
        with open("theirs.csv", "w") as file:
            os.fchmod(file.fileno(), 0o666)
            os.fchown(file.fileno(), 65532, 65532)
        assert b"theirs.csv: the file belongs to user 65532" in run(
            "export", "--to", "csv", "shut.gplog", "-o", "theirs.csv", status=1).stderr
        assert os.path.getsize("theirs.csv") == 0


def check_misuse():
    assert b"says the format" in run("export", "course.gplog", "-o", "x", status=2).stderr
    assert b"no format is called 'svg'; there are perfetto," in run("export", "--to", "svg", "course.gplog", "-o", "x", status=2).stderr
    assert b"says where to" in run("export", "--to", "csv", "course.gplog", status=2).stderr
    assert b"is the log itself" in run("export", "--to", "csv", "course.gplog", "-o", "course.gplog", status=1).stderr
    run("verify", "course.gplog")
    check_rights()
    assert b"could not be written" in run("export", "--to", "csv", "course.gplog", "-o", "/dev/full", status=1).stderr
    with open("course.csv", "rb") as file:
        assert run("export", "--to", "csv", "course.gplog", "-o", "-").stdout == file.read()
    # A log that is cut exports what is whole, and says that something is missing.
    with open("course.gplog", "rb") as file:
        whole = file.read()
    with open("torn.gplog", "wb") as file:
        file.write(whole[: len(whole) // 2 | 1])  # blocks end at whole words
    for kind in ("perfetto", "chrome", "jsonl", "csv"):
        run("export", "--to", kind, "torn.gplog", "-o", "torn." + kind, status=1)
    with open("torn.perfetto", "rb") as file:
        Perfetto(file.read(), START)
    with open("torn.chrome", encoding="utf-8") as file:
        json.load(file)


def check_many():
    """Ten times the kernels: each once, in the same memory."""
    for name, count in (("few", 10000), ("many", 100000)):
        subprocess.run([MAKE, name + ".gplog", str(count), "4096"], check=True)
    peaks = [peak_kib("export", "--to", "perfetto", name + ".gplog", "-o", name + ".out") for name in ("few", "many")]
    assert peaks[1] - peaks[0] < MEMORY_KIB, peaks
    check_official("few.out", 1)
    with open("few.out", "rb") as file:
        trace = Perfetto(file.read(), START)
    kernels = [s for s in trace.slices if s["name"].startswith("bulk_")]
    assert len(kernels) == 10000 and {s["us"] for s in kernels} == {1}, len(kernels)
    assert not any(s["inside"] for s in kernels)
    assert len({s["where"] for s in kernels}) == 8
    assert os.path.getsize("many.out") < 10.5 * os.path.getsize("few.out")


def main():
    if perfetto_official.schema is None:
        print("no Python packages perfetto and protobuf: Perfetto's own schema is not asked")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for frame_rows in ("16", "3", "1000"):  # ranges and late rows cross frames
            subprocess.run([MAKE, "course.gplog", "0", frame_rows], check=True)
            run("export", "--to", "perfetto", "course.gplog", "-o", "course.perfetto")
            with open("course.perfetto", "rb") as file:
                check_perfetto(Perfetto(file.read(), START))
            check_official("course.perfetto", 1)
        for kind in ("chrome", "jsonl", "csv"):
            run("export", "--to", kind, "course.gplog", "-o", "course." + kind)
        check_chrome("course.chrome")
        check_lines("course.jsonl", "course.csv")
        check_programs()
        check_misuse()
        check_many()


main()
