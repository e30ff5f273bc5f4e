#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Programs whose GPU fails under gpurt-record, plain ones and ones that use gpurt: the log tells kernel, block, thread,
lane, SM and source line as the program did before. Arguments: folders of the programs and of the tests."""
import json
import os
import re
import subprocess
import sys
import tempfile
import time

BIN, TESTS = sys.argv[1:3]
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TRUTH = re.compile(r"kernel (\S+) block (\S+) thread (\S+) warp (\d+) lane (\d+) sm (\d+) slot (\d+) line (\d+) "
                   r"address (\S+) told 1")
ABORTED = 128 + 6
PLAIN = [("trap", "trap", 0), ("address", "illegal-address", 0), ("misaligned", "misaligned-address", 0),
         ("shared", "shared-out-of-range", 0), ("stack", "stack-overflow", 3), ("assert", "assert", 0),
         ("inlined", "illegal-address", 0), ("cluster", "illegal-address", 0)]
OWN = [("trap", "trap", "gpurt_trap();"), ("address", "illegal-address", "*(uint64_t *)place = 1;"),
       ("misaligned", "misaligned-address", "*(uint64_t *)place = 1;")]
CUDA = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_ENABLE_")}


def record(log, *command):
    begun = time.monotonic()
    done = subprocess.run([os.path.join(BIN, "gpurt-record"), "-q", "--gpu-core", "-o", log, *command], capture_output=True,
                          text=True, env=CUDA, timeout=60)
    return done, time.monotonic() - begun


def show(log, *more):
    return subprocess.run([os.path.join(BIN, "gpurt-panic"), "show", *more, log, "--source", TREE], check=True,
                          capture_output=True, text=True).stdout


def check_plain(program, cause, kind, spread, lines):
    log = f"{program}-{cause}.gplog"
    done, took = record(log, os.path.join(TESTS, program), cause)
    assert done.returncode == ABORTED, done
    truth = TRUTH.search(done.stdout)
    assert truth, done
    kernel, block, thread, warp, lane, sm, slot, line, _ = truth.groups()
    found = json.loads(show(log, "--json"))
    assert found["of"] == 1 and found["kind"] == "fault", found
    assert found["fault"]["kind"] == kind, found["fault"]["kind"]
    assert found["fault"]["kernel"] == kernel, found["fault"]["kernel"]
    assert [",".join(map(str, found[k])) for k in ("block", "thread")] == [block, thread], found
    assert [found[k] for k in ("warp", "lane", "sm", "warp_slot")] == [int(v) for v in (warp, lane, sm, slot)], found
    if lines:
        assert int(line) <= found["line"] <= int(line) + spread, (line, found["line"])
        assert "\n> " in show(log), "no excerpt"
    else:
        assert found["line"] == 0 and "-lineinfo" in show(log)
    print(f"{program:14} {cause:11} {kind:20} line {found['line']:3} {took:5.2f} s, log of {os.path.getsize(log)} bytes")


def check_own(cause, kind, text):
    """A kernel of gpurt's, launched through gpurt: thread 33 of the grid is thread 33 of block 0."""
    log = f"own-{cause}.gplog"
    done, took = record(log, os.path.join(TESTS, "test_gpu_faults"), cause)
    assert done.returncode == ABORTED, done
    found = json.loads(show(log, "--json"))
    assert found["fault"]["kind"] == kind, found["fault"]
    assert "faults_one" in found["fault"]["kernel"], found["fault"]["kernel"]
    assert found["block"] == [0, 0, 0] and found["thread"] == [33, 0, 0] and found["lane"] == 1, found
    assert found["file"].endswith("gpu_faults_kernels.c"), found["file"]
    lines = found["source_lines"]
    assert text in lines["lines"][found["line"] - lines["first"]], lines
    print(f"{'own':14} {cause:11} {kind:20} line {found['line']:3} {took:5.2f} s, log of {os.path.getsize(log)} bytes")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for cause, kind, spread in PLAIN:
            check_plain("fault_lines", cause, kind, spread, True)
        check_plain("fault_without_lines", "address", "illegal-address", 0, False)
        for cause, kind, text in OWN:
            check_own(cause, kind, text)
        done, _ = record("healthy.gplog", os.path.join(TESTS, "fault_lines"), "none")
        assert done.returncode == 0, done
        print(show("fault_lines-inlined.gplog"))


main()
