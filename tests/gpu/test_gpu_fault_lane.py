#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One lane of a full warp uses a bad address, and a kernel in which two warps poll: the report of the driver's dump names
that lane or says that it cannot, and never another; and it suspects the warps that poll. Arguments: folders of the
programs and of the tests. With OUT set, dumps and reports are left there as fault_lane.tar.gz."""
import json
import os
import re
import stat
import subprocess
import sys
import tarfile
import tempfile
import time

BIN, TESTS = (os.path.abspath(folder) for folder in sys.argv[1:3])
TREE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
FLAGS = ("skip_nonrelocated_elf_images,skip_global_memory,skip_shared_memory,skip_local_memory,"
         "skip_constbank_memory")
BLOCK, THREAD = [3, 0, 0], [9, 0, 0]
# cause: whether the lane must be told; else the registers may be of later, and then nothing may be claimed
CAUSES = {"pick": True, "null": True, "load": False, "self": False, "row": False, "atomic": False}


def environment(name, **more):
    own = {key: value for key, value in os.environ.items() if not key.startswith("CUDA_ENABLE_")}
    return dict(own, CUDA_COREDUMP_GENERATION_FLAGS=FLAGS, CUDA_COREDUMP_FILE=os.path.abspath(f"{name}.core"), **more)


def show(name):
    text, found = (subprocess.run([os.path.join(BIN, "gpurt-panic"), "show", *form, f"{name}.core", "--source", TREE],
                                  check=True, capture_output=True, text=True).stdout for form in ((), ("--json",)))
    for ending, said in (("txt", text), ("json", found)):
        with open(f"{name}.{ending}", "w", encoding="utf-8") as file:
            file.write(said)
    return text, json.loads(found)


def check_lane(cause, must):
    done = subprocess.run([os.path.join(TESTS, "fault_lane"), cause], capture_output=True, text=True, timeout=60,
                          env=environment(cause, CUDA_ENABLE_COREDUMP_ON_EXCEPTION="1"), check=False)
    line = int(re.match(r"line (\d+) ", done.stdout).group(1))
    assert os.path.exists(f"{cause}.core"), ("no dump", done)
    text, found = show(cause)
    which = found["fault"]["which"]
    print(f"{cause:8} line {found['line']:3} {which['text']}")
    assert found["fault"]["kind"] == "illegal-address" and found["block"] == BLOCK, found
    assert found["line"] == line, (found["line"], line)
    assert must <= (which["clue"] != "unknown"), which
    if which["clue"] == "unknown":
        assert found["failed"] == 0 and "not known which of them failed" in text, text
        assert found["fault"]["instruction"]["address"] is None, found
        assert which["may_be"] >> THREAD[0] & 1, which
    else:
        assert found["thread"] == THREAD and found["lane"] == THREAD[0] and found["failed"] == 1 << THREAD[0], found
        assert "thread 9,0,0" in text and "lane 9" in text, text


def poll_dump():
    """Asks the driver for a dump of the kernel that hangs, which ends it."""
    pipe = os.path.abspath("poll.pipe")
    with subprocess.Popen([os.path.join(TESTS, "fault_lane"), "poll"], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL,
                          env=environment("poll", CUDA_ENABLE_USER_TRIGGERED_COREDUMP="1", CUDA_COREDUMP_PIPE=pipe)) as app:
        try:
            line = int(re.match(r"line (\d+) ", app.stdout.readline()).group(1))
            for _ in range(200):
                if os.path.exists(pipe) and stat.S_ISFIFO(os.stat(pipe).st_mode):
                    break
                time.sleep(0.05)
            time.sleep(1)  # until the kernel runs
            with open(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb", buffering=0) as asked:
                asked.write(bytes(1024))
            app.wait(30)
        finally:
            app.kill()
    return line


def check_poll():
    line = poll_dump()
    text, found = show("poll")
    print(text)
    others = found["fault"]["others"]
    assert found["fault"]["kind"] == "snapshot", found["fault"]["kind"]
    suspects = [group for group in others if group["suspect"]]
    assert sum(group["warps"] for group in suspects) == 2, others
    assert all(group["doing"] == "polls" and group["loop"][0] <= line + 1 and group["loop"][1] >= line
               for group in suspects), others
    assert sum(group["warps"] for group in others if group["doing"] in ("barrier", "converge")) == 6, others
    assert line <= found["line"] <= line + 1, (found["line"], line)
    assert "<- suspect" in text and "waits at a barrier" in text, text


def keep(folder):
    with tarfile.open(os.path.join(folder, "fault_lane.tar.gz"), "w:gz") as pack:
        for name in sorted(os.listdir(".")):
            if name.endswith((".core", ".txt", ".json")):
                pack.add(name)


def main():
    out = os.environ.get("OUT")
    out = out and os.path.abspath(out)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for check, arguments in [(check_lane, pair) for pair in CAUSES.items()] + [(check_poll, ())]:
            try:
                check(*arguments)
            except (AssertionError, AttributeError, OSError, subprocess.SubprocessError) as error:
                wrong.append(f"{check.__name__} {arguments}: {error!r}")
        if out:
            keep(out)
        os.chdir(TREE)
    if wrong:
        sys.exit("\n".join(wrong))


main()
