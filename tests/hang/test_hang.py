#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Device code that hangs is explained from outside: who waits for whom, with names and source lines. Arguments: folder of
the programs, the program that hangs."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BIN, APP = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
RECORD, PANIC, TOP, LOG = (os.path.join(BIN, "gpurt-" + name) for name in ("record", "panic", "top", "log"))
PAGE = open(os.path.join(HERE, "..", "..", "docs", "PANIC_JSON.md"), encoding="utf-8").read()
SOURCE = open(os.path.join(HERE, "hang_app_kernels.c"), encoding="utf-8").read().splitlines()
LONG = 60  # seconds; nothing here takes long on a machine that is not
ENV = dict(os.environ, GPURT_CUPTI="off")


def line_of(text, nth=1):
    return [i + 1 for i, line in enumerate(SOURCE) if text in line][nth - 1]


def until(what, *arguments):
    end = time.monotonic() + LONG
    while time.monotonic() < end:
        found = what(*arguments)
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what.__name__}{arguments}: not within {LONG} s")


def start(*command, **env):
    app = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=dict(ENV, **env))
    pid = app.stdout.readline()
    assert pid.strip(), app.communicate()
    return app, int(pid)


def panic(*arguments, status=None):
    done = subprocess.run([PANIC, *arguments], capture_output=True, text=True)
    assert status is None or done.returncode == status, (arguments, done)
    return done.stdout


def shown(*arguments):
    """The hang that show tells of, or None while there is none."""
    text = panic("show", "--json", *arguments)
    return json.loads(text) if text.startswith("{") else None


def shown_log(log):
    return os.path.exists(log) and shown(log)


def shown_circle(log):
    """The report of a deadlock, the first or the second: on a slow machine a thread may come so late that one waits alone."""
    reports = [shown("-n", number, log) for number in "12"] if os.path.exists(log) else []
    return next((report for report in reports if report and report["hang"]["circles"]), None)


def shown_launches(log, count):
    """The report, with that many launches: they are host records, and may come into the log after the kernel's."""
    report = shown_log(log)
    return report and len(report["launches"]) == count and report


def check_documented(value):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item)
    missing = [key for key in value if f"`{key}`" not in PAGE] if isinstance(value, dict) else []
    assert not missing, missing


def check_ring(report):
    """Block i holds fork[i] and waits for fork[i + 1]."""
    assert report["kind"] == "hang" and report["line"] == line_of("the wrong order"), report
    hang = report["hang"]
    assert hang["stuck"] == 3 and hang["circles"] == 1, hang
    assert sorted(w["block"] for w in hang["waits"]) == [0, 1, 2]
    for wait in hang["waits"]:
        assert wait["object"] == {"kind": "lock", "name": "fork", "index": (wait["block"] + 1) % 3}, wait
        assert wait["stuck"] and wait["circle"] == 1 and wait["reason"] == "owner"
        assert wait["at"]["line"] == line_of("the wrong order") and wait["at"]["text"] == "takes a lock"
        holder, = wait["waits_for"]
        assert holder["block"] == (wait["block"] + 1) % 3 and not holder["gone"]
        assert hang["waits"][holder["wait"]]["block"] == holder["block"]
        assert holder["held_at"]["line"] == line_of("LOCK(&s->locks[block % HANG_LOCKS])"), holder
    check_documented(report)


def check_explained_within_a_second(folder):
    """The limit is half a second; the rest of the second is ours. On a busy machine, one of five."""
    ages = []
    for i in range(5):
        log = f"{folder}/ring{i}.gplog"
        recorder, pid = start(RECORD, "-q", "--hang-after", "0.5", "-o", log, "--", APP, "ring")
        report = until(shown_log, log)
        check_ring(report)
        os.kill(pid, 0)  # it runs on: nothing was stopped
        recorder.terminate()
        _, err = recorder.communicate(timeout=LONG)
        assert "deadlock: 3 wait for one another in a circle" in err, err
        for i in range(3):
            assert re.search(rf'block {i} warp 0 lane 0 waits for lock "fork\[{(i + 1) % 3}\]" at hang_app_kernels.c:\d+', err), err
        assert panic("list", log, status=0).count("deadlock of 3: block") == 1  # told once
        ages.append(report["ts_ns"] / 1e9 - max(w["since_ns"] for w in report["hang"]["waits"]) / 1e9)
        assert ages[-1] >= 0.5, ages
        if ages[-1] < 1:
            print(f"a deadlock of three blocks was told {ages[-1] * 1e3:.1f} ms after the last of its waits began; the limit was 500 ms")
            return
    raise AssertionError(ages)


def check_text(folder):
    text = panic("show", "--source", HERE, f"{folder}/ring0.gplog", status=0)
    assert text.startswith("hang 1 of 1") and "the wrong order" in text, text
    assert f"held by block 1 warp 0 lane 0 since hang_app_kernels.c:{line_of('LOCK(&s->locks[block % HANG_LOCKS])')}" in text, text
    sarif = json.loads(panic("export", "--sarif", f"{folder}/ring0.gplog", status=0))["runs"][0]
    assert sarif["results"][0]["ruleId"] == "gpurt/hang", sarif


def check_ways(folder):
    """What it says of each way to hang: stuck, circles, and what is in the first sentence."""
    for way, stuck, circles, words in (
            ("self", 1, 1, ['block 0 waits for lock "fork[0]" of block 0']),
            ("channels", 2, 1, ['data in channel "right" of block', 'data in channel "left" of block']),
            ("credit", 2, 1, ['a credit of channel "left" of block 1', 'data in channel "right" of block 0']),
            ("queue", 2, 1, ['data in channel "jobs" of block 1', 'waits for lock "fork[0]" of block 0']),
            ("barrier", 2, 1, ['waits for the grid barrier of block 1', 'waits for lock "fork[0]" of block 0']),
            ("gone", 0, 0, ['block 1 waits for lock "fork[0]"']),
            ("open", 0, 0, ["2 wait: block "]),
            ("busy", 0, 0, ['block 1 waits for lock "fork[0]"'])):
        log = f"{folder}/{way}.gplog"
        recorder, _ = start(RECORD, "-q", "--hang-after", "0.2", "-o", log, "--", APP, way)
        report = until(shown_log, log)
        recorder.terminate()
        recorder.communicate(timeout=LONG)
        hang = report["hang"]
        assert (hang["stuck"], hang["circles"]) == (stuck, circles), (way, hang)
        assert all(word in report["msg"] for word in words), (way, report["msg"])
        assert all(f'`"{wait["reason"]}"`' in PAGE for wait in hang["waits"]), (way, hang)
        if way == "credit":
            assert sorted(wait["reason"] for wait in hang["waits"]) == ["credit", "data"], hang
        if way == "busy":
            assert hang["waits"][0]["waits_for"][0]["last_at"]["text"] == "computes", hang


def check_threads(folder):
    """A thread of the host in the circle, with its name; a function of the host that waits for its caller."""
    for way, words in (
            ("order", ['waits for room in channel "answers" of host thread', 'waits for an acknowledgement by channel "orders" of block 0']),
            ("call", ['waits for object "', 'waits to receive from channel "answers" of block 0']),
            ("listen", ['waits for data in channel "orders" of host thread', 'waits to receive from channel "answers" of block 0'])):
        log = f"{folder}/thread-{way}.gplog"
        recorder, pid = start(RECORD, "-q", "--hang-after", "0.2", "-o", log, "--", APP, way)
        report = until(shown_circle, log)
        live = shown("-p", str(pid))
        recorder.terminate()
        _, err = recorder.communicate(timeout=LONG)
        for told in (report, live):
            hang = told["hang"]
            threads = [w for w in hang["waits"] if w["thread"] is not None]
            inside = [w for w in threads if w["circle"] == 1]
            assert hang["circles"] == 1 and len(inside) == 1 and len(threads) == (2 if way == "call" else 1), (way, hang)
            assert inside[0]["thread_name"] == "hang_app" and not inside[0]["limited"], (way, hang)
            assert (inside[0]["thread"] == pid) == (way != "call"), (way, pid, hang)
            assert inside[0]["object"] == {"kind": "channel", "name": "orders" if way == "order" else "answers", "index": None}
            assert all(word in told["msg"] for word in words), (way, told["msg"])
            check_documented(told)
        assert re.search(rf"host thread {inside[0]['thread']} \(hang_app\) waits (to receive from|for an acknowledgement by) channel", err), err
    if os.path.exists(TOP):
        recorder, pid = start(RECORD, "-q", "-o", f"{folder}/waited.gplog", "--", APP, "listen")

        def waited():
            done = subprocess.run([TOP, "--once", "--json", "-p", str(pid)], capture_output=True, text=True)
            objects = json.loads(done.stdout)["objects"]["list"] if done.returncode == 0 else []
            return [o for o in objects if o["class"] == "hostchannel" and o["fields"]["name"] == "answers"
                    and o["fields"]["host_waiting"] == 1 and o["fields"]["host_waited"] > 5e8]
        until(waited)
        recorder.terminate()
        recorder.communicate(timeout=LONG)


def check_no_alarm(folder):
    """Locks that are fought over are no deadlock, and a long wait is none either."""
    log = f"{folder}/not.gplog"
    done = subprocess.run([RECORD, "-q", "--hang-after", "0.05", "-o", log, "--", APP, "not", "20000"], capture_output=True,
                          text=True, timeout=LONG, env=ENV)
    assert done.returncode == 0, done
    assert json.loads(panic("list", "--json", log, status=0))["panics"] == 0
    log = f"{folder}/calm.gplog"
    recorder, pid = start(RECORD, "-q", "-o", log, "--", APP, "busy")
    time.sleep(1.3)  # longer than the default limit: it is about what is not told
    os.kill(pid, signal.SIGKILL)
    recorder.communicate(timeout=LONG)
    assert json.loads(panic("list", "--json", log, status=0))["panics"] == 0


def check_late(folder):
    """Waits that are not old enough when silence is told, or begin after it. The first two are told together."""
    for limit, later_ms, blocks in (("2", "600", ([1, 2],)), ("0.2", "500", ([1], [1, 2]))):
        log = f"{folder}/late{limit}.gplog"
        recorder, _ = start(RECORD, "-q", "--hang-after", limit, "-o", log, "--", APP, "late", later_ms)
        hang = until(shown_log, log)["hang"]
        recorder.terminate()
        _, err = recorder.communicate(timeout=LONG)
        assert err.startswith(f"gpurt-record: no record of device code for {limit} s"), err
        assert sorted(wait["block"] for wait in hang["waits"]) in blocks, hang
        assert err.count("device code waits, and nothing moves") == 1, err


def check_quiet(folder):
    """Code that records nothing at all waits, too. Who holds the lock computes, so it is no deadlock."""
    log = f"{folder}/quiet.gplog"
    recorder, _ = start(RECORD, "-q", "--hang-after", "0.3", "-o", log, "--", APP, "busy", GPURT_LEVEL="off")
    hang = until(shown_log, log)["hang"]
    recorder.terminate()
    _, err = recorder.communicate(timeout=LONG)
    assert err.count("device code waits, and nothing moves") == 1 and "no record of" not in err, err
    assert hang["waits"], hang


def check_noise(folder):
    """A deadlock beside a block that logs as fast as it can: the log is written all the time when it is told."""
    for i in range(8):
        log = f"{folder}/noise{i}.gplog"
        recorder, pid = start(RECORD, "-q", "--hang-after", "0.1", "-o", log, "--", APP, "noise")
        try:
            check_ring(until(shown_log, log))
        except AssertionError as error:  # whether it stands in the box says who is to blame
            raise AssertionError(panic("show", "-p", str(pid)), panic("list", log)) from error
        recorder.terminate()
        _, err = recorder.communicate(timeout=LONG)
        assert "Sanitizer" not in err, err
        done = subprocess.run([LOG, "verify", log], capture_output=True, text=True)
        assert done.returncode == 0, done


def check_named(folder):
    """Whoever names an object that another lane is just naming has its number behind the call, in whatever order."""
    for seed in range(1, 13):
        done = subprocess.run([RECORD, "-q", "-o", f"{folder}/named{seed}.gplog", "--", APP, "named"], capture_output=True,
                              text=True, timeout=LONG, env=dict(ENV, GPURT_SEED=str(seed)))
        assert done.returncode == 0, (seed, done)


def check_over(folder):
    """A wait that is over is none, however long its lane says nothing after it."""
    log = f"{folder}/went.gplog"
    recorder, _ = start(RECORD, "-q", "--hang-after", "0.3", "-o", log, "--", APP, "went")
    line = recorder.stderr.readline()
    assert line.startswith("gpurt-record: no record of device code for 0.3 s"), line
    recorder.terminate()
    recorder.wait(timeout=LONG)
    assert json.loads(panic("list", "--json", log, status=0))["panics"] == 0


def check_whose(folder):
    """Two processes in one log, at once: each hang is told of as that of the one that stands."""
    log = f"{folder}/whose.gplog"
    script = f"{APP} self >/dev/null & exec {APP} ring"
    recorder, ring = start(RECORD, "-q", "--hang-after", "0.2", "-o", log, "--", "/bin/sh", "-c", script)

    def both():
        reports = [shown(str(number), log) for number in (1, 2) if os.path.exists(log)]
        return all(reports) and {len(r["hang"]["waits"]): r["pid"] for r in reports}
    pids = until(both)
    (other,) = set(pids.values()) - {ring}
    for pid in (other, ring):
        os.kill(pid, signal.SIGKILL)
    recorder.communicate(timeout=LONG)
    assert pids == {3: ring, 1: other}, pids
    assert {p["pid"] for p in shown("1", log)["source"]["programs"]} == {ring, other}


def check_live_and_dead(folder):
    """Out of the box of a program that runs, of one that was killed, and out of the log after that."""
    log = f"{folder}/dead.gplog"
    recorder, pid = start(RECORD, "-q", "--hang-after", "1h", "-o", log, "--", APP, "ring")
    check_ring(until(shown, "-p", str(pid)))
    recorder.send_signal(signal.SIGSTOP)
    os.kill(pid, signal.SIGKILL)

    def shown_dead():
        report = shown("-p", str(recorder.pid))  # it holds the box
        return report and not report["source"]["alive"] and report
    check_ring(until(shown_dead))
    recorder.send_signal(signal.SIGCONT)
    recorder.communicate(timeout=LONG)
    assert recorder.returncode == 128 + signal.SIGKILL
    check_ring(shown(log))
    # the drainer that a program starts by itself
    log = f"{folder}/own.gplog"
    app, pid = start(APP, "ring", GPURT_LOG=log, PATH=BIN + ":" + os.environ["PATH"])
    until(shown, "-p", str(pid))
    os.kill(pid, signal.SIGKILL)
    app.communicate(timeout=LONG)
    check_ring(until(shown_log, log))


def check_top(folder):
    """gpurt-top shows it, as drainer and over the shoulder of one."""
    if not os.path.exists(TOP):
        return
    recorder, pid = start(RECORD, "-q", "--hang-after", "0.2", "-o", f"{folder}/top.gplog", "--", APP, "ring")

    def told():
        done = subprocess.run([TOP, "--once", "--json", "-p", str(pid)], capture_output=True, text=True)
        return "deadlock of 3" in done.stdout and done.stdout
    until(told)
    recorder.terminate()
    recorder.communicate(timeout=LONG)


def check_launch_site(folder):
    """The host's line that launched, and the calls that led there: asked for, and only then."""
    for option, expected in (["--launch-sites"], 1), ([], 0):
        log = f"{folder}/launch{expected}.gplog"
        recorder, _ = start(RECORD, "-q", "--hang-after", "0.2", *option, "-o", log, "--", APP, "self")
        report = until(shown_launches, log, expected)
        recorder.terminate()
        recorder.communicate(timeout=LONG)
        for text in report["launches"]:
            assert re.search(r"^launch of hang_app at .*hang_app\.c:\d+, called by (hang_app|main)\S* < ", text), text
    assert "  host      launch of hang_app at" in panic("show", f"{folder}/launch1.gplog", status=0)


def check_hook(folder):
    log = f"{folder}/hook.gplog"
    recorder, _ = start(RECORD, "-q", "--hang-after", "0.2", "--exec-on-panic", f'echo "$GPURT_PANIC_KIND" >> {folder}/told',
                        "-o", log, "--", APP, "self")
    until(os.path.exists, f"{folder}/told")
    recorder.terminate()
    recorder.communicate(timeout=LONG)
    assert open(f"{folder}/told", encoding="utf-8").read() == "hang\n"


with tempfile.TemporaryDirectory() as directory:
    check_explained_within_a_second(directory)
    check_text(directory)
    check_ways(directory)
    check_threads(directory)
    check_no_alarm(directory)
    check_late(directory)
    check_quiet(directory)
    check_noise(directory)
    check_named(directory)
    check_over(directory)
    check_whose(directory)
    check_live_and_dead(directory)
    check_launch_site(directory)
    check_hook(directory)
    check_top(directory)
print("all well")
