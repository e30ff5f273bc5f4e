#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tasks that hang are explained from outside, as lanes are: who waits for whom, with names and source lines. Arguments:
folder of the programs, the program whose tasks hang."""
import atexit
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

BIN, APP = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
RECORD, PANIC, TOP = (os.path.join(BIN, "gpurt-" + name) for name in ("record", "panic", "top"))
PAGE = open(os.path.join(HERE, "..", "..", "docs", "PANIC_JSON.md"), encoding="utf-8").read()
SOURCE = open(os.path.join(HERE, "hang_tasks_kernels.c"), encoding="utf-8").read().splitlines()
LONG = 60  # seconds; nothing here takes long on a machine that is not
ENV = dict(os.environ, GPURT_CUPTI="off")


def line_of(text):
    line, = [i + 1 for i, line in enumerate(SOURCE) if text in line]
    return line


def until(what, *arguments):
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        found = what(*arguments)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what.__name__}{arguments}: not within {LONG} s")


def start(limit, log, way, view="50"):
    recorder = subprocess.Popen([RECORD, "-q", "--hang-after", limit, "-o", log, "--", APP, way], stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, text=True, env=dict(ENV, GPURT_HEAP_VIEW=view))
    atexit.register(recorder.terminate)  # of a test that fails nothing runs on
    pid = recorder.stdout.readline()
    assert pid.strip(), recorder.communicate()
    return recorder, int(pid)


def end(recorder):
    recorder.terminate()
    return recorder.communicate(timeout=LONG)[1]


def shown(*arguments):
    text = subprocess.run([PANIC, "show", "--json", *arguments], capture_output=True, text=True).stdout
    return json.loads(text) if text.startswith("{") else None


def shown_log(log, circles=1):
    """The first two reports of a log: silence may be told before a circle is."""
    reports = [shown("-n", number, log) for number in "12"] if os.path.exists(log) else []
    return next((r for r in reports if r and r["hang"]["circles"] >= circles), None)


def check_documented(value):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item)
    missing = [key for key in value if f"`{key}`" not in PAGE] if isinstance(value, dict) else []
    assert not missing, missing


def of_task(hang, name):
    return next(w for w in hang["waits"] if w["task"] and w["task"]["name"] == name)


def check_awaits(report):
    """The outer one holds the lock that its child wants."""
    hang = report["hang"]
    inner, outer = of_task(hang, "inner"), of_task(hang, "outer")
    assert hang["circles"] == 1 and inner["circle"] == outer["circle"] == 1, hang
    assert report["line"] == line_of("/* the inner one */") == inner["at"]["line"], report
    assert inner["object"] == {"kind": "lock", "name": "ledger", "index": None} and inner["reason"] == "owner", inner
    assert inner["task"]["why"] == "waits" and inner["task"]["awaited_by"] == 1 and inner["task"]["executor"] == 1 and inner["block"] is None, inner
    holder, = inner["waits_for"]
    assert holder["held_at"]["line"] == line_of("/* the outer one */") and holder["row"] == outer["task"]["row"], holder
    assert hang["waits"][holder["wait"]] == outer, holder
    assert outer["task"]["why"] == "awaits_children" and outer["at"]["line"] == line_of("GPURT_TASK(outer,"), outer
    assert [hang["waits"][w["wait"]] for w in outer["waits_for"]] == [inner], outer
    check_documented(report)


def top_tells(pid):
    done = subprocess.run([TOP, "--once", "--json", "-p", str(pid)], capture_output=True, text=True)
    return "deadlock of 2: task" in done.stdout


def check_explained_within_a_second(folder):
    """Executors are looked at twice a second, so the limit is less than the half of one. On a busy machine, one of five."""
    ages = []
    for i in range(5):
        log = f"{folder}/awaits{i}.gplog"
        recorder, pid = start("0.3", log, "awaits", "500")
        report = until(shown_log, log)
        os.kill(pid, 0)  # it runs on: nothing was stopped
        if os.path.exists(TOP):
            until(top_tells, pid)
        err = end(recorder)
        check_awaits(report)
        assert "deadlock: 2 wait for one another in a circle" in err, err
        assert 'held by task "outer" (row 0 of executor 1) since hang_tasks_kernels.c:' in err, err
        ages.append(report["ts_ns"] / 1e9 - of_task(report["hang"], "inner")["since_ns"] / 1e9)
        if 0.3 <= ages[-1] < 1:
            print(f"tasks in a circle were told {ages[-1] * 1e3:.0f} ms after they stood; the limit was 300 ms")
            return
    raise AssertionError(ages)


def check_ways(folder):
    """Circles of each kind: how many are in it, and what the sentence says."""
    for way, size, words in (
            ("locks", 2, ['waits for lock "ledger" of task "crosses"', 'waits for lock "journal" of task "crosses"']),
            ("after", 2, ['task "plain" comes after task "plain", which comes after']),
            ("sleeps", 2, ['task "sleeper" waits for data in channel "jobs" of task "owner"', 'awaits task "sleeper"']),
            ("body", 3, ['waits for data in channel "jobs" of task "owner"', 'task "taker", which is run by block']),
            ("crowd", 2, ['task "inner" waits for lock "ledger" of task "outer"', 'which awaits task "inner"'])):
        log = f"{folder}/{way}.gplog"
        recorder, _ = start("0.2", log, way)
        report = until(shown_log, log)
        err = end(recorder)
        hang = report["hang"]
        inside = [w for w in hang["waits"] if w["circle"] == 1]
        assert (hang["circles"], len(inside)) == (1, size), (way, hang)
        assert all(word in report["msg"] for word in words), (way, report["msg"])
        assert all(w["at"]["file"].endswith("hang_tasks_kernels.c") for w in inside), (way, inside)
        check_documented(report)
        if way == "sleeps":
            assert of_task(hang, "sleeper")["reason"] == "data", hang
            assert of_task(hang, "sleeper")["waits_for"][0]["held_at"]["line"] == line_of("/* the end */"), hang
        if way == "crowd":  # up to 600 wait: the report is short, and says so
            assert len(hang["waits"]) <= 64 and 0 < hang["left_out"] <= 600, (len(hang["waits"]), hang["left_out"])
            assert err.count("\n") < 80 and "found no room in this report" in err, err


def check_shown(folder):
    """No lane waits, so none is named."""
    done = subprocess.run([PANIC, "show", f"{folder}/locks.gplog"], capture_output=True, text=True)
    assert "thread    none: a task waits" in done.stdout and "lanes  " not in done.stdout, done


def check_diff(folder):
    """Two deadlocks of one file are not one that has moved."""
    done = subprocess.run([PANIC, "diff", f"{folder}/locks.gplog", f"{folder}/after.gplog"], capture_output=True, text=True)
    assert done.returncode == 3 and [line.split()[0] for line in done.stdout.splitlines()] == ["new", "gone"], done


def check_no_circle(folder):
    """Locks that are fought over; a task that has asked for a lock twice, and goes on without it; one that sleeps."""
    log = f"{folder}/fight.gplog"
    done = subprocess.run([RECORD, "-q", "--hang-after", "0.05", "-o", log, "--", APP, "fight"], capture_output=True,
                          text=True, timeout=LONG, env=dict(ENV, GPURT_HEAP_VIEW="10"))
    assert done.returncode == 0 and "deadlock" not in done.stderr, done
    log = f"{folder}/quit.gplog"
    recorder, _ = start("0.6", log, "quit", "20")  # on a busy machine it asks again half a second later
    time.sleep(2)  # it is about what is not told: longer than it counts as asking
    assert "deadlock" not in end(recorder) and not shown_log(log)
    log = f"{folder}/alone.gplog"
    recorder, _ = start("0.2", log, "alone")
    report = until(shown_log, log, 0)
    assert "in no circle" in end(recorder)
    wait, = report["hang"]["waits"]
    assert wait["task"]["name"] == "idles" and wait["at"]["line"] == line_of("/* what never comes */"), wait
    assert wait["object"] is None and not wait["stuck"], wait


def check_live_and_dead(folder):
    """Out of the box of a program that runs, and of one that was killed."""
    log = f"{folder}/dead.gplog"
    recorder, pid = start("1h", log, "awaits")

    def circle(number):
        report = shown("-p", str(number))
        return report and report["hang"]["circles"] and report
    check_awaits(until(circle, pid))
    recorder.send_signal(signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)
    check_awaits(until(circle, recorder.pid))  # it holds the box
    recorder.send_signal(signal.SIGCONT)
    recorder.communicate(timeout=LONG)
    check_awaits(shown_log(log))


with tempfile.TemporaryDirectory() as directory:
    check_explained_within_a_second(directory)
    check_ways(directory)
    check_shown(directory)
    check_diff(directory)
    check_no_circle(directory)
    check_live_and_dead(directory)
print("all well")
