#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_hangup BIN APP TOP: a terminal that hangs up ends what runs on it, under gpurt-record and under gpurt-top, too.
TOP: whether gpurt-top has a screen."""

import json
import os
import pathlib
import pty
import select
import signal
import subprocess
import sys
import tempfile
import time

BIN, APP, TOP = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3:] == ["top"]
LIMIT = 60


def until(what, true):
    last = time.monotonic() + LIMIT
    while not true():
        assert time.monotonic() < last, what
        time.sleep(0.02)


def records(log):
    found = subprocess.run([BIN / "gpurt-log", "stat", "--json", log], capture_output=True, check=False)
    return json.loads(found.stdout)["records"] if found.returncode == 0 else 0


def gone(pid):
    """Of a process that may be another's child: dead, or a zombie that nobody has asked for yet."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True
    return stat.rsplit(")", 1)[1].split()[0] == "Z"


def child_of(pid):
    children = pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(children[0]) if children else 0


def end_of(pid):
    """Exit status as a shell says it."""
    last = time.monotonic() + LIMIT
    while time.monotonic() < last:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            return os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
        time.sleep(0.02)
    os.kill(pid, signal.SIGKILL)
    raise AssertionError("a hang-up ended nothing")


def check_record():
    """gpurt-record leads the session, as under `ssh -t host gpurt-record ...`: the hang-up is its own alone."""
    recorder, terminal = pty.fork()
    if recorder == 0:
        os.execv(BIN / "gpurt-record", ["gpurt-record", "-q", "-o", "run.gplog", "--", APP, "100", "hang"])
    until("a log", lambda: records("run.gplog") == 100)
    app = child_of(recorder)
    os.close(terminal)
    assert end_of(recorder) == 128 + signal.SIGHUP
    assert gone(app), "the program outlived its terminal"
    verify = subprocess.run([BIN / "gpurt-log", "verify", "run.gplog"], capture_output=True, text=True, check=False)
    assert verify.returncode == 0 and ", closed" in verify.stdout, verify


def lead(own):
    """A shell: it hands the hang-up on to its job a little later. Writes pids first, then the job's status."""
    job = os.fork()
    if job == 0:
        os.execv(BIN / "gpurt-top", ["gpurt-top", "--", APP, "100", "hang"])
    told = []
    signal.signal(signal.SIGHUP, lambda *_: told.append(1))
    os.write(own, f"{job} ".encode())
    while not told:
        time.sleep(0.01)
    time.sleep(0.1)
    os.kill(job, signal.SIGHUP)
    os.write(own, f"{end_of(job)}".encode())
    os._exit(0)


def check_top():
    """The terminal is lost before the signal comes: the program is ended, and so is not one that keeps running."""
    ours, own = os.pipe()
    leader, terminal = pty.fork()
    if leader == 0:
        os.environ["TERM"] = "xterm"
        lead(own)
    os.close(own)
    top = int(os.read(ours, 64))
    seen = b""
    last = time.monotonic() + LIMIT
    while b"LIVE" not in seen:
        assert time.monotonic() < last, seen
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536)
    until("a program", lambda: child_of(top))
    app = child_of(top)
    os.close(terminal)
    status = int(os.read(ours, 64))
    assert status == 128 + signal.SIGHUP, f"status {status}"
    assert gone(app), "the program outlived its terminal"
    end_of(leader)


def main():
    for name in ("GPURT_DRAIN", "GPURT_LOG"):
        os.environ.pop(name, None)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_RUNTIME_DIR"] = folder
        check_record()
        if TOP:
            check_top()
        os.chdir("/")
    print("all well")


main()
