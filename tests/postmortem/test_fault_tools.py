#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-panic export, diff and watch, and the chain of failures in show. Arguments: folders of the programs and of
the tests."""
import glob
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

BIN, TESTS = sys.argv[1:3]
HERE = os.path.dirname(os.path.abspath(__file__))
PANIC, RECORD = os.path.join(BIN, "gpurt-panic"), os.path.join(BIN, "gpurt-record")
APP, FEED = os.path.join(TESTS, "doomed_app"), os.path.join(TESTS, "feed_app")
PAGE = os.path.join(os.path.dirname(os.path.dirname(HERE)), "docs", "PANIC_JSON.md")


def panic(*arguments, status=0):
    done = subprocess.run([PANIC, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done)
    return done.stdout


def record(log, *command):
    subprocess.run([RECORD, "-q", "--gpu-core", "-a", "-o", log, *command], capture_output=True,
                   env={k: v for k, v in os.environ.items() if not k.startswith("CUDA_")})


def check_documented(value, page):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item, page)
    if isinstance(value, dict):
        missing = [key for key in value if f"`{key}`" not in page]
        assert not missing, missing


def check_sarif():
    """What a reader of SARIF 2.1.0 demands, and that every place is the report's."""
    found = json.loads(panic("export", "--sarif", "a.gplog", "inlined.core"))
    assert found["version"] == "2.1.0" and found["$schema"].endswith("sarif-2.1.0.json")
    run, = found["runs"]
    driver = run["tool"]["driver"]
    assert driver["name"] == "gpurt-panic" and re.fullmatch(r"\d+\.\d+\.\d+", driver["semanticVersion"])
    ids = [rule["id"] for rule in driver["rules"]]
    assert sorted(ids) == ["gpurt/illegal-address", "gpurt/panic", "gpurt/trap"], ids
    for rule in driver["rules"]:
        assert all(rule[key]["text"] for key in ("shortDescription", "fullDescription", "help")), rule
    assert len(run["results"]) == 4  # the panic, the trap, two illegal addresses
    for result in run["results"]:
        assert ids[result["ruleIndex"]] == result["ruleId"] and result["level"] == "error"
        assert result["message"]["text"] and result["occurrenceCount"] == 1
        assert re.fullmatch(r"[0-9a-f]{16}", result["partialFingerprints"]["gpurtSite/v1"])
        place = result["locations"][0]["physicalLocation"]
        assert place["region"]["startLine"] > 0
        uri = place["artifactLocation"]["uri"]
        assert uri.startswith("file:///") == (result["ruleId"] != "gpurt/panic"), uri
    inlined = [r for r in run["results"] if "store_inlined" in r["message"]["text"]]
    frames = inlined[0]["stacks"][0]["frames"]
    assert [f["location"]["logicalLocations"][0]["fullyQualifiedName"] for f in frames] == \
        ["(anonymous)::store_inlined", "(anonymous)::fail"], frames
    # below a named folder places are relative, and the same site keeps its fingerprint
    file = json.loads(panic("show", "--json", "inlined.core"))["file"]
    root = file.split("/tests/")[0]
    if not os.path.isdir(root):
        root = "/tmp"
    again = json.loads(panic("export", "--sarif", "--source", root, "inlined.core"))["runs"][0]
    place = again["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"]
    assert place["uriBaseId"] == "SRCROOT" and root + "/" + place["uri"] == file, place
    assert again["originalUriBaseIds"]["SRCROOT"]["uri"] == f"file://{os.path.realpath(root)}/"
    assert again["results"][0]["partialFingerprints"] == inlined[0]["partialFingerprints"]
    panic("export", "a.gplog", status=2)
    empty = json.loads(panic("export", "--sarif", "none.gplog"))["runs"][0]
    assert empty["results"] == [] and empty["tool"]["driver"]["rules"] == []


def check_diff(page):
    assert panic("diff", "a.gplog", "a.gplog").count("same ") == 3
    text = panic("diff", "a.gplog", "b.gplog", status=3)
    found = {word: [line for line in text.splitlines() if line.startswith(word)]
             for word in ("new", "more", "same", "gone")}
    assert [len(lines) for lines in found.values()] == [1, 1, 1, 1], text
    assert "store_inlined" in found["new"][0] and re.search(r"1 -> 2 .*illegal", found["more"][0]), text
    assert "message" in found["same"][0] and "trap" in found["gone"][0], text
    assert "fewer" in panic("diff", "b.gplog", "a.gplog", status=3)
    assert panic("diff", "a.gplog", "none.gplog").count("gone") == 3
    rows = json.loads(panic("diff", "--json", "a.gplog", "b.gplog", status=3))
    assert rows["schema"] == "gpurt-panic-diff" and len(rows["sites"]) == 4
    check_documented(rows, page)
    panic("diff", "once.gplog", "twice.gplog", status=3)  # nothing new, but more of it
    panic("diff", "twice.gplog", "once.gplog")
    panic("diff", "a.gplog", status=2)


def check_chain(page):
    """The fault of a warp that had panicked names the panic; another one the first failure."""
    found = [json.loads(panic("show", "--json", str(i), "a.gplog")) for i in (1, 2, 3)]
    assert [f["kind"] for f in found] == ["panic", "fault", "fault"]
    assert found[0]["chain"] == [], found[0]["chain"]
    link, = found[1]["chain"]
    assert link["number"] == 1 and link["relation"] == "same-warp" and link["before_ns"] > 0, link
    assert found[2]["chain"][-1]["number"] == 1, found[2]["chain"]
    check_documented(found[1], page)
    text = panic("show", "2", "a.gplog")
    assert re.search(r"^  chain +its warp had failed \d+\.\d+ ms before: number 1, message", text, re.M), text


def start_watch(*arguments):
    return subprocess.Popen([PANIC, "watch", *arguments], stdout=subprocess.PIPE, text=True)


def child_of(pid):
    for path in glob.glob("/proc/[0-9]*/stat"):
        try:
            with open(path, encoding="utf-8", errors="replace") as file:
                if int(file.read().rpartition(")")[2].split()[1]) == pid:
                    return int(path.split("/")[2])
        except OSError:
            pass
    raise AssertionError(f"{pid} has no child")


def check_watch():
    """One line when it comes, and an end with the log's or the program's."""
    recorder = subprocess.Popen([RECORD, "-q", "-o", "live.gplog", FEED, "50", "panic", "hang"])
    until = time.monotonic() + 60
    while not (os.path.exists("live.gplog") and os.path.getsize("live.gplog") > 1000) and time.monotonic() < until:
        time.sleep(0.02)
    watch = start_watch("live.gplog")
    line = watch.stdout.readline()
    assert "message" in line and "kernel.c:" in line, line
    child = child_of(recorder.pid)
    box = start_watch("--json", "-p", str(child))
    first = json.loads(box.stdout.readline())
    assert first["kind"] == "panic" and "message" in first["msg"], first
    os.kill(child, signal.SIGTERM)
    recorder.wait(timeout=60)
    assert watch.wait(timeout=60) == 0 and watch.stdout.read() == ""
    assert box.wait(timeout=60) == 0 and box.stdout.read() == ""
    assert panic("watch", "trap.core").count("trap in") == 1


def check_top():
    """The fault is a panic of the picture, the dump is kept, and without the word nothing is changed."""
    top = os.path.join(BIN, "gpurt-top")
    if not os.path.exists(top):
        return
    clean = {k: v for k, v in os.environ.items() if not k.startswith("CUDA_")}
    done = subprocess.run([top, "--batch", "--gpu-core", "--exec-on-panic", 'echo "told of a $GPURT_PANIC_KIND"', APP,
                           "trap.core", "box", "panic"], capture_output=True, text=True, env=clean)
    assert done.returncode == 128 + 6, done
    assert re.search(r"^PANIC 2  fault_plain\.cu:\d+  sm 126 block 1,1,0 thread 7,1,0  trap in", done.stderr, re.M), done
    assert done.stderr.count("told of a panic") == 1 and done.stderr.count("told of a fault") == 1, done
    kept, = glob.glob("gpurt-*.gpucore")
    assert f"see gpurt-panic show {kept}" in done.stderr, done
    assert "trap in" in panic("show", kept)
    done = subprocess.run([top, "--batch", APP, "trap.core", "box"], capture_output=True, text=True, env=clean)
    assert done.returncode == 1 and len(glob.glob("gpurt-*.gpucore")) == 1, done
    done = subprocess.run([top, "--batch", "--gpu-core", APP, "trap.core"], capture_output=True, text=True,
                          env=dict(clean, CUDA_COREDUMP_FILE="mine"))
    assert done.returncode == 125 and "CUDA_COREDUMP_FILE is set" in done.stderr, done


def main():
    with open(PAGE, encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name in ("address", "trap", "inlined"):
            subprocess.run([os.path.join(TESTS, "dump_pack"), "unpack",
                            os.path.join(HERE, "dumps", f"{name}.core.zst"), f"{name}.core"], check=True)
        record("none.gplog", FEED, "10")
        record("a.gplog", APP, "trap.core", "box", "panic")
        record("a.gplog", APP, "address.core")
        record("b.gplog", FEED, "10", "panic")
        for dump in ("address", "inlined", "address"):
            record("b.gplog", APP, f"{dump}.core")
        for log, times in (("once.gplog", 1), ("twice.gplog", 2)):
            for _ in range(times):
                record(log, APP, "address.core")
        check_sarif()
        check_diff(page)
        check_chain(page)
        check_watch()
        check_top()


main()
