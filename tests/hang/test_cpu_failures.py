#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Deadlocks, livelocks and faults of the CPU back end are failures in the log, like those of a GPU. Arguments: folder of
the programs, tests/seeded/planted.c."""
import json
import os
import subprocess
import sys
import tempfile

BIN, PLANTED = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
RECORD, PANIC, TOP, LOG = (os.path.join(BIN, "gpurt-" + name) for name in ("record", "panic", "top", "log"))
KERNELS = os.path.join(HERE, "..", "kernels", "planted_kernels.c")
PAGE = open(os.path.join(HERE, "..", "..", "docs", "PANIC_JSON.md"), encoding="utf-8").read()
SOURCE = open(KERNELS, encoding="utf-8").read().splitlines()
FAST = {"GPURT_SPIN_LIMIT_MS": "300"}

# bug, kind, category, a part of its line, lane that is told of, environment
ROWS = [
    ("divergent_barrier", "hang", "deadlock", "gpurt_ballot", 0, {}),
    ("livelock", "hang", "livelock", "gpurt_relax", 0, FAST),
    ("occupancy", "hang", "occupancy", "gpurt_relax", 0, dict(FAST, GPURT_MAX_RESIDENT="2")),
    ("null", "fault", "illegal-address", "p->none) = 1", 5, {}),
    ("divide", "fault", "arithmetic", "PLANTED_CULPRIT / ", 5, {}),
    ("stack_overflow", "fault", "stack-overflow", None, 5, {}),
    ("trap", "fault", "trap", "gpurt_trap()", 5, {}),
    ("mismatched_masks", "fault", "sync", None, None, {}),
    ("livelock", "hang", "livelock", "gpurt_relax", 0, {"GPURT_SEED": "3", "GPURT_SPIN_LIMIT": "2000"}),
    ("null", "fault", "illegal-address", None, 5, {"GPURT_SYMBOLIZE": "0"}),
]


def run(*command, status=0, **env):
    done = subprocess.run(command, capture_output=True, text=True, env=dict(os.environ, **env), timeout=60)
    assert status is None or done.returncode == status, (command, done)
    return done


def check_documented(value):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item)
    missing = [key for key in value if f"`{key}`" not in PAGE] if isinstance(value, dict) else []
    assert not missing, missing


def check_row(bug, kind, category, words, lane, env):
    log = f"{bug}.gplog"
    # The hook hears of it, and what the program itself reported is in the log.
    command = 'printf "%s|%s|%s\\n" "$GPURT_PANIC_KIND" "$GPURT_PANIC_SITE" "$GPURT_PANIC_MESSAGE"'
    done = run(RECORD, "-a", "-o", log, "--exec-on-panic", command, "--", PLANTED, bug, status=1, **env)
    assert f"{kind}|" in done.stderr and "1 panic in" in done.stderr, done
    # The program's own line calls it what the log calls it: no panic.
    assert f"gpurt: {kind} at " in done.stderr or f"gpurt: {kind} in " in done.stderr, done.stderr
    found = json.loads(run(PANIC, "show", "--json", log).stdout)
    assert found["kind"] == kind and found["category"] == category and found["of"] == 1, found
    assert found["kernel"] == f"planted_{bug}" and f"in kernel planted_{bug}" in found["msg"], found
    assert found["report"].splitlines()[0] in done.stdout + done.stderr, (found["report"], done)
    assert found["report"].startswith(found["msg"].split(",")[0].split(":")[0]), found
    assert lane is None or found["lane"] == lane and found["failed"] >> lane & 1, found
    if words:
        assert words in SOURCE[found["line"] - 1], (found["line"], words)
        assert found["file"].endswith("planted_kernels.c"), found
    if words and kind == "fault":
        assert found["calls"][0]["function"] == f"planted_{bug}", found
    check_documented(found)
    text = run(PANIC, "show", log).stdout
    assert text.startswith(f"{kind} 1 of 1") and "\nreport:\n" in text, text
    assert f"1 {kind} at 1 site" in run(PANIC, "list", log).stdout
    assert found["msg"] in run(LOG, "cat", log).stdout
    sarif = json.loads(run(PANIC, "export", "--sarif", log).stdout)["runs"][0]
    assert sarif["results"][0]["ruleId"] == f"gpurt/{category}", sarif
    assert found["msg"] in run(LOG, "export", "--to", "chrome", "-o", "-", log).stdout
    assert json.loads(run(TOP, "-1", "--json", "--replay", log).stdout)["panic_list"][0]["msg"] == found["msg"]
    os.remove(log)


def check_by_name():
    """A program that a shell finds in PATH has lines, too: the loader knows it by a name that is no path."""
    path = os.path.dirname(PLANTED) + ":" + os.environ["PATH"]
    done = run("/bin/sh", "-c", "cd / && planted null", status=1, PATH=path)
    assert "planted_null (planted_kernels.c:" in done.stderr + done.stdout, done


def check_abort():
    """The program dies of it, and the log has it all the same."""
    done = run(RECORD, "-o", "abort.gplog", "--", PLANTED, "abort", status=134)
    assert "killed by SIGABRT" in done.stderr and "1 panic in" in done.stderr, done
    found = json.loads(run(PANIC, "show", "--json", "abort.gplog").stdout)
    assert found["kind"] == "fault" and found["category"] == "abort" and found["lane"] == 5, found
    assert found["msg"] == "abort in kernel planted_abort" and "abort (libc" in found["report"], found


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    for row in ROWS:
        check_row(*row)
    check_by_name()
    check_abort()
print("all well")
