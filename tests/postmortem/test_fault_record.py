#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-record and a GPU that fails: the dump goes into the log, among the records of the warp that failed, and
the program's end is the program's. Arguments: folders of the programs and of the tests."""
import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

BIN, TESTS = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
APP, FEED = os.path.join(TESTS, "doomed_app"), os.path.join(TESTS, "feed_app")
ABORTED = 128 + 6
CUDA = {name: value for name, value in os.environ.items() if not name.startswith("CUDA_")}


def record(*arguments, status=0, quiet=True, environment=None, log="run.gplog"):
    if os.path.exists(log):
        os.unlink(log)
    core = [] if "--" in arguments else ["--gpu-core"]
    done = subprocess.run([os.path.join(BIN, "gpurt-record"), *(["-q"] if quiet else []), *core, "-o", log,
                           *arguments],
                          capture_output=True, text=True, env=dict(CUDA, TMPDIR=os.getcwd(), **environment or {}))
    assert status is None or done.returncode == status, (arguments, done)
    assert not glob.glob("gpurt-core-*"), "the folder for dumps is left"
    return done


def show(number, log="run.gplog"):
    return json.loads(subprocess.run([os.path.join(BIN, "gpurt-panic"), "show", "--json", str(number), log],
                                     check=True, capture_output=True, text=True).stdout)


def sites(log="run.gplog"):
    return json.loads(subprocess.run([os.path.join(BIN, "gpurt-panic"), "list", "--json", log],
                                     check=True, capture_output=True, text=True).stdout)["sites"]


def check_plain():
    """A program that knows nothing of gpurt."""
    done = record(APP, "address.core", status=ABORTED, quiet=False)
    assert re.search(r"process \d+: illegal address in .*fail, kernel doomed .* at \S+fault_plain\.cu:\d+; "
                     r"see gpurt-panic show run\.gplog", done.stderr), done.stderr
    found = show(1)
    assert found["kind"] == "fault" and found["fault"]["kind"] == "illegal-address", found
    assert found["source"]["kind"] == "log" and found["source"]["program"].endswith("doomed_app"), found["source"]
    assert found["device"] == 0 and found["back_end"] == "cuda"
    assert found["before"] == {"warp": [], "block": [], "sm": []}
    assert len(found["fault"]["registers"]) > 20
    assert abs(found["ts_ns"] - time.time_ns()) < 60e9
    assert "doomed" in subprocess.run([os.path.join(BIN, "gpurt-log"), "cat", "run.gplog"], check=True,
                                      capture_output=True, text=True).stdout


def check_long_names():
    """In a folder of 200 characters the program has its name; one that is too long says that it is cut."""
    folder = os.path.join("x" * 200, "of")
    os.makedirs(folder)
    for name, told in (("doomed_app", "doomed_app"), ("n" * 90, "n" * 60 + "...")):
        shutil.copy(APP, os.path.join(folder, name))
        record(os.path.join(".", folder, name), "address.core", status=ABORTED)
        found = show(1)
        assert found["source"]["program"] == told, found["source"]
        seen = subprocess.run([os.path.join(BIN, "gpurt-top"), "--once", "--replay", "run.gplog"], check=True,
                              capture_output=True, text=True).stdout
        assert f"  {told}[" in seen.splitlines()[0], seen
    shutil.rmtree("x" * 200)


def check_instrumented():
    """The last records of the warp and of its SM, in order of time."""
    record(APP, "trap.core", "box", status=ABORTED)
    found = show(1)
    assert found["fault"]["kind"] == "trap", found
    warp = [record["msg"] for record in found["before"]["warp"]]
    assert warp == [f"message {i} of ring 1" for i in range(8, 40)], warp
    block = [record["msg"] for record in found["before"]["block"]]
    assert block == [*warp[10:], *(f"message {i} of ring 0" for i in range(10))], block
    sm = [record["msg"] for record in found["before"]["sm"]]
    assert sm[-10:] == [f"message {i} of ring 0" for i in range(10)] and len(sm) == 32, sm
    assert [r["ts_ns"] for r in found["before"]["sm"]] == sorted(r["ts_ns"] for r in found["before"]["sm"])
    text = subprocess.run([os.path.join(BIN, "gpurt-panic"), "show", "run.gplog"], check=True, capture_output=True,
                          text=True).stdout
    assert "the last 32 records of its warp (*), 32 of its block (+), 32 of its SM" in text, text
    assert "meanwhile, 17 warps that did not fail:" in text and "help: " in text, text


def check_whole_log():
    """Repaired, appended to, packed: the dump stays with its rows."""
    log = os.path.join(BIN, "gpurt-log")
    subprocess.run([log, "verify", "run.gplog"], check=True, capture_output=True)
    subprocess.run([log, "repair", "run.gplog", "-o", "again.gplog"], check=True, capture_output=True)
    assert show(1, "again.gplog")["fault"]["kind"] == "trap"
    done = subprocess.run([os.path.join(BIN, "gpurt-record"), "-q", "--gpu-core", "-a", "-o", "run.gplog", APP,
                           "address.core"], capture_output=True, env=CUDA)
    assert done.returncode == ABORTED, done
    assert [site["kind"] for site in sites()] == ["fault", "fault"]
    assert [show(i)["fault"]["kind"] for i in (1, 2)] == ["trap", "illegal-address"]
    # a log whose dump is damaged tells what its rows know
    with open("run.gplog", "rb") as file:
        bytes_ = bytearray(file.read())
    at = bytes_.find(b"\x28\xb5\x2f\xfd", bytes_.find(b"GPL1\x06\x00"))
    bytes_[at + 1000] ^= 0xff
    with open("damaged.gplog", "wb") as file:
        file.write(bytes_)
    done = subprocess.run([os.path.join(BIN, "gpurt-panic"), "show", "damaged.gplog"], capture_output=True, text=True)
    assert "trap in" in done.stdout and "missing or damaged" in done.stdout, done


def check_environment():
    """What the user set stays, and is told; unasked for, there is no capture and the program ends by itself."""
    record("--", APP, "address.core", status=1)
    assert not sites()
    record(APP, "address.core", status=ABORTED,
           environment={"CUDA_ENABLE_COREDUMP_ON_EXCEPTION": "1", "CUDA_COREDUMP_FILE": os.path.abspath("mine.%p"),
                        "CUDA_COREDUMP_GENERATION_FLAGS": "skip_global_memory"})
    assert not sites() and len(glob.glob("mine.*")) == 1
    done = record(APP, "address.core", status=1, environment={"CUDA_COREDUMP_FILE": "x"})
    assert "CUDA_COREDUMP_FILE is set already" in done.stderr, done
    # whoever we start for a panic is not captured
    record("--exec-on-panic", "env > hook.env", APP, "address.core", status=ABORTED)
    with open("hook.env", encoding="utf-8") as file:
        assert "COREDUMP" not in file.read()


def check_child():
    """A process of the program's dies; the program goes on."""
    record(APP, "misaligned.core", "box", "child", status=3)
    found = show(1)
    assert found["fault"]["kind"] == "misaligned-address" and len(found["before"]["warp"]) == 32, found


def check_whose():
    """A fault of the second of two processes is its own, whether it opened gpurt or not. (Where the first one is shown from,
    it is recorded.)"""
    for word in ("box", ""):
        record("/bin/sh", "-c", f"{FEED} 10 hang & until [ -e gpurt/$! ]; do sleep 0.01; done; {APP} trap.core {word}; "
               "status=$?; kill -KILL $!; exit $status", status=ABORTED, environment={"XDG_RUNTIME_DIR": os.getcwd()})
        found = show(1)
        feed, failed = found["source"]["programs"]
        assert feed["name"] == "feed_app" and failed["name"] == ("doomed_app" if word else ""), found["source"]
        assert found["pid"] == failed["pid"] != feed["pid"], found
        assert len(found["before"]["warp"]) == (32 if word else 0), found["before"]
        assert all(r["pid"] == found["pid"] for r in found["before"]["sm"]), found["before"]


def faults_on_top(devices):
    """(device, panics) of each box, as gpurt-top tells them when the program has died."""
    subprocess.run([os.path.join(BIN, "gpurt-top"), "--once", "--json", "--gpu-core", "-o", "top.json", "--", APP,
                    "trap.core", "box", f"on={devices}"], capture_output=True, env=CUDA, check=False)
    for dump in glob.glob("gpurt-*.gpucore"):
        os.unlink(dump)
    with open("top.json", encoding="utf-8") as file:
        shown = [json.loads(line) for line in file]
    return [(one["devices"][0]["device"], one["panics"]) for one in shown]


def check_devices():
    """A process with several devices open: the fault belongs to the one that it was of, wherever its box comes."""
    record(APP, "trap.core", "box", "on=120", status=ABORTED)
    found = show(1)
    assert found["device"] == 0 and len(sites()) == 1, found
    assert [r["msg"] for r in found["before"]["warp"]] == [f"message {i} of ring 1" for i in range(8, 40)], found
    assert faults_on_top("10") == [(1, 0), (0, 1)]
    assert faults_on_top("01") == [(0, 1), (1, 0)]
    # One that no box is of is told once.
    assert sorted(faults_on_top("123")) in ([(1, 1), (2, 0), (3, 0)], [(1, 0), (2, 1), (3, 0)],
                                            [(1, 0), (2, 0), (3, 1)])


def check_not_a_dump():
    with open("junk.core", "wb") as file:
        file.write(b"\177ELF" + bytes(300))
    done = record(APP, "junk.core", status=ABORTED)
    assert "is no GPU core dump" in done.stderr and not sites(), done


def check_hang():
    """Silence is told once, with the last record of each SM, and the driver is asked for a dump."""
    done = record("--hang-after", "1", APP, "hang.core", "box", "hang", status=ABORTED)
    notice = done.stderr.splitlines()
    assert notice[0] == "gpurt-record: no record of device code for 1 s; the last one of each SM:", done.stderr
    assert re.fullmatch(r" +1 SM  126  \d\.\d s ago  kernel\.c:100  block 4 warp [01]: message \d+ of ring [01]",
                        notice[1]), notice
    assert notice[2] == "gpurt-record: the driver was asked for a dump", notice
    found = show(1)
    assert found["fault"]["kind"] == "snapshot" and found["fault"]["kernel"] == "doomed", found["fault"]
    assert sum(group["warps"] for group in found["fault"]["others"]) == 18
    # without --gpu-core it is told and nothing is done; without words of it nothing is told
    done = record("--hang-after", "1", "--", os.path.join("/bin", "sh"), "-c",
                  f"{FEED} 10 hang & sleep 6; kill $!", status=None)
    assert done.stderr.count("no record of device code for 1 s") == 1 and "was asked" not in done.stderr, done.stderr
    done = record("--", "/bin/sh", "-c", f"{FEED} 10 hang & sleep 1.5; kill $!", status=None)
    assert "no record" not in done.stderr


def check_hook():
    done = record("--exec-on-panic", 'echo "$GPURT_PANIC_KIND|$GPURT_PANIC_SITE|$GPURT_PANIC_MESSAGE|'
                  '$GPURT_PANIC_FILE"', APP, "trap.core", "box", status=ABORTED)
    told = [line for line in done.stderr.splitlines() if line.startswith("fault|")]
    assert len(told) == 1 and re.match(r"fault\|\S+fault_plain\.cu:\d+\|trap in .*\|run\.gplog$", told[0]), done.stderr
    done = record("--exec-on-panic", "cat; echo $GPURT_PANIC_KIND; exit 1", FEED, "100", "panic")
    assert done.stderr.count("panic\n") == 1, done.stderr
    assert os.path.exists("run.gplog")


def runs(pid):
    """Whether it does something yet; who has ended may wait for its parent to ask."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def check_hook_time():
    """A command that hangs is ended, with all that it started, and the recorder ends too."""
    begun = time.monotonic()
    record("--exec-on-panic", "sleep 60 & echo $! > sleeper; wait", APP, "trap.core", status=ABORTED)
    took = time.monotonic() - begun
    assert 9 < took < 30, took
    with open("sleeper", encoding="ascii") as file:
        pid = int(file.read())
    until = time.monotonic() + 60
    while runs(pid) and time.monotonic() < until:
        time.sleep(0.02)
    assert not runs(pid), pid


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("address", "trap", "misaligned", "hang"):
            subprocess.run([os.path.join(TESTS, "dump_pack"), "unpack",
                            os.path.join(HERE, "dumps", f"{name}.core.zst"), f"{name}.core"], check=True)
        for check in (check_plain, check_long_names, check_instrumented, check_whole_log, check_environment, check_child, check_whose,
                      check_devices, check_not_a_dump, check_hang, check_hook, check_hook_time):
            check()


main()
