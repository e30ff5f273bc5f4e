#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whose a record and a failure is, in a log of several processes: of one that is made up, where two processes number all
alike (tests/gen/make_several.c), and of programs that are recorded at once. Arguments: folders of the programs and of the tests."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BIN, TESTS = sys.argv[1:3]
FEED = os.path.join(TESTS, "feed_app")
FIRST, SECOND = 1001, 22
HERE = os.path.dirname(os.path.abspath(__file__))
RANK = "rank \\x1b[31m"  # as text shows it
with open(os.path.join(HERE, "../../docs/PANIC_JSON.md"), encoding="utf-8") as page:
    PAGE = page.read()


def run(program, *arguments, status=0):
    done = subprocess.run([os.path.join(BIN, "gpurt-" + program), *arguments], capture_output=True, text=True,
                          env=dict(os.environ, TZ="UTC"))
    assert done.returncode == status, (program, arguments, done)
    return done.stdout


def rows(text):
    return [json.loads(line) for line in text.splitlines()]


def panic(command, *arguments, status=0):
    found = json.loads(run("panic", command, *arguments, status=status))
    check_documented(found)
    return found


def check_documented(value):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item)
    missing = [key for key in value if f"`{key}`" not in PAGE] if isinstance(value, dict) else []
    assert not missing, missing


def steps(records):
    return [int(r["msg"][5:]) for r in records if r["msg"].startswith("step ")]


# ---- a log that is made up -------------------------------------------------------------------------------------------

def check_cat(log):
    lines = run("log", "cat", log).splitlines()[1:]  # behind what a GPU is
    assert lines[0] == "00:00:00.000010000 INFO  pid1001 dev0 sm0   b5     w5  00000001 kernel.c:3  step 100", lines[0]
    assert lines[1] == "00:00:00.000011000 INFO  pid22   dev0 sm0   b5     w5  00000001 kernel.c:3  step 200", lines[1]
    assert lines[13].startswith("00:00:00.000031000 TRACE pid22   dev0   launch      "), lines[13]
    found = rows(run("log", "cat", "--jsonl", log))
    assert [r["pid"] for r in found[:5]] == [SECOND, FIRST, SECOND, FIRST, SECOND] and len(found) == 20, found
    own = rows(run("log", "cat", "--jsonl", "-p", str(SECOND), log))
    assert own == [r for r in found if r["pid"] == SECOND] and len(own) == 10, own
    tail = rows(run("log", "tail", "--jsonl", "-n", "3", "--pid", str(FIRST), log))
    assert tail == [r for r in found if r["pid"] == FIRST][-3:], tail
    assert run("log", "cat", "-p", "7", log, status=1) == ""
    run("log", "cat", "-p", "0", log, status=2)


def check_stat(log):
    text = run("log", "stat", log)
    assert f"program    {RANK}[1001], 10 records, 2 panics\nprogram    {RANK}[22], 10 records, 2 panics\nclosed" in text, text
    found = json.loads(run("log", "stat", "--json", log))["programs"]
    assert found == [{"number": 0, "pid": FIRST, "name": "rank \x1b[31m", "records": 10, "panics": 2},
                     {"number": 1, "pid": SECOND, "name": "rank \x1b[31m", "records": 10, "panics": 2}], found


def check_list(log):
    text = run("panic", "list", log).splitlines()
    assert re.search(r" SITE        WHOSE +MESSAGE", text[0]), text
    assert re.search(r"^   1      3 .* kernel\.c:6  " + re.escape(RANK) + r"\[1001\] and 1 more  bad value 1001$", text[1]), text
    assert re.search(r"^   4      1 .* kernel\.c:9  " + re.escape(RANK) + r"\[22\] +worse value 22$", text[2]), text
    # Of calls with one number the one whose kernel ended is not the other one's.
    assert text[4:] == [f"last launch of {RANK}[22]: beta, grid 9,1,1 block 32,1,1 from app+0x10; its end is not recorded"], text
    found = panic("list", "--json", log)
    assert [s["pid"] for s in found["sites"]] == [FIRST, SECOND], found
    assert [(p["pid"], p["count"]) for p in found["sites"][0]["processes"]] == [(FIRST, 2), (SECOND, 1)], found
    (source,) = found["sources"]
    assert [(p["number"], p["pid"]) for p in source["programs"]] == [(0, FIRST), (1, SECOND)], source
    assert [(n["pid"], n["kernel"], n["call"], n["ended"]) for n in source["last_launches"]] == [
        (FIRST, "alpha", 7, True), (SECOND, "beta", 7, False)], source
    # A process that is in two sources is one.
    both = panic("list", "--json", log, "./" + log)
    assert [(p["pid"], p["count"]) for p in both["sites"][0]["processes"]] == [(FIRST, 4), (SECOND, 2)], both


def check_show(log):
    """Nothing of the other process's block, warp, launches and ways."""
    second, third = panic("show", "--json", "2", log), panic("show", "--json", "3", log)
    assert (second["pid"], second["program"], third["pid"]) == (SECOND, "rank \x1b[31m", FIRST), second
    assert (second["in_block"], second["block_rank"], third["in_block"], third["block_rank"]) == (2, 1, 2, 2)
    assert (second["at_site"], second["site_rank"]) == (3, 2), second
    assert [(c["relation"], c["number"], c["pid"]) for c in second["chain"]] == [("first", 1, FIRST)], second["chain"]
    assert [(c["relation"], c["number"], c["pid"]) for c in third["chain"]] == [("same-warp", 1, FIRST)], third["chain"]
    assert steps(second["before"]["warp"]) == steps(second["before"]["sm"]) == list(range(200, 205)), second["before"]
    assert steps(third["before"]["block"]) == list(range(100, 105)), third["before"]
    assert all(r["pid"] == SECOND for r in second["before"]["sm"]), second["before"]
    assert second["launches"] == ["launch of beta at main.c:1"] and third["launches"] == ["launch of alpha at main.c:0"]
    assert [(n["kernel"], n["ended"]) for n in second["last_launches"]] == [("beta", False)], second
    assert [(n["kernel"], n["ended"]) for n in third["last_launches"]] == [("alpha", True)], third
    text = run("panic", "show", "2", log)
    assert f"\n  process   {RANK}[22]\n" in text, text
    assert f"the first failure was 0.010 ms before: number 1, {RANK}[1001]: bad value 1001" in text, text


def check_others(log):
    result = json.loads(run("panic", "export", "--sarif", log))["runs"][0]["results"]
    assert [[p["pid"] for p in r["properties"]["processes"]] for r in result] == [[FIRST, SECOND], [SECOND]], result
    assert f"kernel.c:9  {RANK}[22]  worse value 22" in run("panic", "diff", log, log)
    found = panic("diff", "--json", log, log)
    assert [[p["count"] for p in s["processes"]] for s in found["sites"]] == [[2, 1], [1]], found
    watched = rows(run("panic", "watch", "--json", log))
    assert [w["pid"] for w in watched] == [FIRST, SECOND, FIRST, SECOND], watched
    check_documented(watched)
    assert f"kernel.c:9  {RANK}[22]  worse value 22\n" in run("panic", "watch", log)


def check_top(log):
    if not os.path.exists(os.path.join(BIN, "gpurt-top")):
        return
    found = json.loads(run("top", "--once", "--json", "-r", log))["panic_list"]
    assert [p["pid"] for p in found] == [FIRST, SECOND, FIRST, SECOND], found
    text = run("top", "--once", "-r", log)
    assert re.search(r"^PANIC 3  3x  pid1001 and others kernel\.c:6 ", text, re.M), text
    assert re.search(r"^PANIC 4  pid22 kernel\.c:9 ", text, re.M), text
    assert re.search(r" PANIC pid22 sm0 kernel\.c:9  worse value 22$", text, re.M), text


def check_repaired(log):
    """A mended log, opened by its index or by walking, has whose its rows are."""
    with open(log, "rb") as file:
        data = file.read()
    with open("torn.gplog", "wb") as file:
        file.write(data[:-100])
    run("log", "repair", "torn.gplog", "-o", "mended.gplog")
    run("log", "verify", "mended.gplog")
    for name, status in (("torn.gplog", 1), ("mended.gplog", 0)):
        assert run("log", "cat", "--jsonl", name, status=status) == run("log", "cat", "--jsonl", log)
    assert json.loads(run("log", "stat", "--json", "mended.gplog"))["programs"] == \
        json.loads(run("log", "stat", "--json", log))["programs"]
    run("panic", "list", "mended.gplog")


# ---- programs that are recorded ---------------------------------------------------------------------------------------

def record(log, script, status=0):
    done = subprocess.run([os.path.join(BIN, "gpurt-record"), "-q", "-o", log, "--", "/bin/sh", "-c", script],
                          capture_output=True, text=True, timeout=120)
    assert done.returncode == status, done


def check_recorded():
    """At once: the first stays until the second, which panics or is killed, is gone. Its records are waited for in the log
    that is written."""
    come = f'until [ "$({os.path.join(BIN, "gpurt-log")} cat -p $first recorded.gplog 2>&- | wc -l)" = 50 ]; do sleep 0.02; done'
    script = f"{FEED} 50 hang & first=$!; {come}; {FEED} 70 %s; kill -KILL $first; wait"
    for word, panics in (("panic", 1), ("panic kill=9", 1), ("kill=9", 0)):
        log = "recorded.gplog"
        if os.path.exists(log):
            os.unlink(log)
        record(log, script % word)
        programs = json.loads(run("log", "stat", "--json", log))["programs"]
        counts = {p["pid"]: 0 for p in programs}
        found = rows(run("log", "cat", "--jsonl", log))
        for r in found:
            counts[r["pid"]] += 1
        assert sorted(counts.values()) == [50, 70 + panics], (word, counts)
        own = max(counts, key=counts.get)
        assert {r["pid"] for r in found if r["level"] == "PANIC"} == ({own} if panics else set()), (word, found[-1])
        sites = panic("list", "--json", log)["sites"]
        assert [(s["pid"], s["program"]) for s in sites] == [(own, "feed_app")] * panics, sites
        assert len(run("log", "cat", "-p", str(own), log).splitlines()) == 70 + panics
        assert len(re.findall(r"^program    feed_app\[\d+\]$", run("log", "stat", log), re.M)) == 2


def check_live():
    """What gpurt-record drains is shown of each process by itself, whichever number it has in the log."""
    if not os.path.exists(os.path.join(BIN, "gpurt-top")):
        return
    environment = dict(os.environ, XDG_RUNTIME_DIR=os.getcwd())
    app = subprocess.Popen([os.path.join(BIN, "gpurt-record"), "-q", "-o", "live.gplog", "--", "/bin/sh", "-c",
                            f"{FEED} 50 panic hang & {FEED} 70 panic hang"], env=environment)
    shown = {}
    end = time.monotonic() + 60
    try:
        while sum(len(v["panic_list"]) for v in shown.values()) < 2 and time.monotonic() < end:
            time.sleep(0.05)
            for pid in os.listdir("gpurt") if os.path.isdir("gpurt") else []:
                done = subprocess.run([os.path.join(BIN, "gpurt-top"), "--once", "--json", "-p", pid], capture_output=True,
                                      text=True, env=environment)
                if done.returncode == 0:
                    shown[int(pid)] = json.loads(done.stdout)
        assert len(shown) == 2 and all([p["pid"] for p in v["panic_list"]] == [pid] for pid, v in shown.items()), shown
    finally:
        for pid in os.listdir("gpurt") if os.path.isdir("gpurt") else []:
            os.kill(int(pid), signal.SIGKILL)
        app.terminate()
        app.wait(timeout=60)


def check_models(log):
    """What a GPU is called is each process's own to say."""
    events = json.loads(run("log", "export", "--to", "chrome", log, "-o", "-"))["traceEvents"]
    named = {e["args"]["name"] for e in events if e["name"] == "process_name"}
    assert {f"GPU 0, one of rank \x1b[31m (pid {FIRST})", f"GPU 0, two of rank \x1b[31m (pid {SECOND})"} < named, named


def check_alone():
    """A log of one process says nothing of it in text; for machines it does."""
    record("alone.gplog", f"exec {FEED} 5 panic")
    (program,) = json.loads(run("log", "stat", "--json", "alone.gplog"))["programs"]
    text = run("log", "cat", "alone.gplog")
    assert "pid" not in text and re.search(r" INFO  dev0 sm0 ", text), text
    assert f"\nprogram    feed_app[{program['pid']}]\nclosed" in run("log", "stat", "alone.gplog")
    assert {r["pid"] for r in rows(run("log", "cat", "--jsonl", "alone.gplog"))} == {program["pid"]}
    assert "process" not in run("panic", "show", "alone.gplog") and "WHOSE" not in run("panic", "list", "alone.gplog")
    assert panic("show", "--json", "alone.gplog")["pid"] == program["pid"]


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([os.path.join(TESTS, "make_several"), "several.gplog"], check=True)
    for check in (check_cat, check_stat, check_list, check_show, check_others, check_top, check_models, check_repaired):
        check("several.gplog")
    check_recorded()
    check_live()
    check_alone()
print("all well")
