#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-panic from the outside, on the box and the log of tests/gen/panic_scene.c.
Arguments: folder of the programs, panic_scene."""
import glob
import json
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile

PANIC = os.path.join(sys.argv[1], "gpurt-panic")
SCENE = sys.argv[2]
SOURCE = """// one
// two
void kernel(void)
{
\tint i = 7;
\tGPURT_ASSERT(i < n, "index");
\tint j;
\tint k;
}
"""
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


def run(*arguments, status=0, **more):
    done = subprocess.run([PANIC, *arguments], capture_output=True, text=True, **more)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done


def load(*arguments, **more):
    return json.loads(run(*arguments, "--json", **more).stdout)


def check_documented(value, page):
    """Every field of the output stands in docs/PANIC_JSON.md."""
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item, page)
    if isinstance(value, dict):
        missing = [key for key in value if f"`{key}`" not in page]
        assert not missing, missing


def steps(records):
    return [int(found.group(1)) for r in records if (found := re.match(r"step (\d+) of", r["msg"]))]


def check_list():
    text = run("list", "run.gplog").stdout
    assert not CONTROL.search(text), text
    assert "6 panics at 2 sites" in text and len(text.splitlines()) == 4, text
    assert re.search(r"^ +1 +5 .* kernel\.c:6 +index 101 of 100 in q\\x1b\]0;evil\\x07", text, re.M), text
    found = load("list", "run.gplog")
    assert found["schema"] == "gpurt-panic-list" and found["version"] == 1 and found["panics"] == 6
    first, second = found["sites"]
    assert (first["number"], first["count"], second["number"], second["count"]) == (1, 5, 6, 1)
    assert first["last_ns"] - first["first_ns"] == 4000000 and first["first_ns"] < second["first_ns"]
    assert first["format"] == "index %u of %u in %s" and second["msg"] == "bad float -2.500000"
    assert found["sources"][0]["kind"] == "log" and found["sources"][0]["program"] == "panic_scene"
    # The same log twice: numbers go by time over both, sites are one.
    both = load("list", "run.gplog", "./run.gplog")
    assert both["panics"] == 12 and [s["count"] for s in both["sites"]] == [10, 2], both


def check_facts(p):
    assert p["schema"] == "gpurt-panic" and p["block"] == [5, 0, 0] and p["thread"] == [167, 0, 0]
    assert (p["sm"], p["warp_slot"], p["warp"], p["lane"]) == (0, 1, 5, 7)
    assert (p["lanes"], p["failed"], p["clock"]) == (0xFFFF, 0x180, 123456789012345)
    assert p["operands"][0] == {"type": "u32", "text": "101", "bits": "0x65"}
    assert p["operands"][2]["text"] == "q\x1b]0;evil\x07\x9b\u202e"
    assert [(v["lane"], v["text"]) for v in p["lane_values"] if v["failed"]] == [(7, "101"), (8, "102")]
    assert p["back_end"] == "cpu" and p["device"] == 0
    warp, sm = p["before"]["warp"], p["before"]["sm"]
    assert len(warp) == 32 and len(sm) == 32
    assert steps(warp) == list(range(109, 140)), steps(warp)
    assert warp[-1]["msg"] == "lane value 507, 7" and warp[-1]["lanes"] == 1 << 7, warp[-1]
    assert p["before"]["block"] == warp, "block 5 has one warp"
    # Both slots of SM 0 in turn: 219..249, the row of lanes last; nothing of SM 1.
    assert steps(sm) == list(range(219, 250)), steps(sm)
    for records in (warp, sm):
        times = [r["ts_ns"] for r in records]
        assert times == sorted(times) and times[-1] <= p["ts_ns"]
    assert p["ts_ns"] - warp[-1]["ts_ns"] == 100000


def check_show(source, *arguments):
    check_facts(load("show", *source, *arguments))
    text = run("show", *source, *arguments).stdout
    assert not CONTROL.search(text), text
    for part in ("index 101 of 100 in q\\x1b]0;evil\\x07", "src/kernel.c:6", "warp 5  lane 7",
                 "block 5,0,0  thread 167,0,0", "0x00000180 failed (2)", "SM 0, warp slot 1",
                 "clock 123456789012345", "u32    101 (0x65)", " 8: 102", "scene \\x1b[2J",
                 "* -100.000 us WARN  b5 w5 kernel.c:4  lane value 507, 7  (+31 lanes)",
                 "  -811.000 us INFO  b9 w9 kernel.c:3  step 249 of"):
        assert part in text, (part, text)
    assert "step 600" not in text and "step 300" not in text
    # A longer look reaches the block that had the slot before: it is the SM's, not the warp's.
    longer = load("show", *source, *arguments, "-r", "200")["before"]
    assert steps(longer["warp"]) == list(range(100, 140)), steps(longer["warp"])
    assert steps(longer["block"]) == list(range(100, 140)), steps(longer["block"])
    assert set(range(5)) < set(steps(longer["sm"])) and len(longer["sm"]) == 5 + 40 + 1 + 50


def check_record():
    """What the record tells beyond place and values: promise, launch, notes, memory, and the others like it."""
    p = load("show", "run.gplog")
    assert (p["category"], p["category_number"], p["title"]) == ("bounds", 4, "index out of bounds") and p["remedy"], p
    assert p["condition"] == "0 <= i < n\x1b[31m" and p["function"] == p["kernel"] == "scene", p
    assert (p["launch"], p["grid"], p["block_dim"]) == (41, [9, 1, 1], [192, 1, 1]), p
    assert (p["cluster_rank"], p["cluster_size"], p["log_sequence"], p["raised"]) == (1, 3, 45, 0), p
    assert [(c["name"], c["type"], c["text"]) for c in p["context"]] == [
        ("request", "u64", "4711"), ("table", "string", "q\x1b]0;evil\x07\x9b\u202e")], p["context"]
    assert [(f["function"], f["file"], f["line"]) for f in p["shadow_frames"]] == [
        ("helper", "src/helper.h", 12), ("scene", "src/helper.h", 99)], p["shadow_frames"]
    assert (p["contexts_left_out"], p["frames_left_out"], p["held"], p["task"]) == (1, 5, [], 0), p
    (memory,) = p["memory"]
    assert (memory["name"], memory["base"], memory["size"]) == ("table", "0x7f0000001000", 400), memory
    assert (memory["start"], memory["mark"]) == ("0x7f0000001090", "0x7f0000001194"), memory
    assert bytes.fromhex(memory["bytes"]) == bytes(range(256))
    assert (p["at_site"], p["site_rank"], p["in_block"], p["block_rank"]) == (5, 1, 2, 1), p
    second = load("show", "2", "run.gplog")
    assert (second["site_rank"], second["in_block"], second["block_rank"]) == (2, 2, 2), second
    # Another launch's block of the same place is no cause.
    assert [c["relation"] for c in load("show", "3", "run.gplog")["chain"]] == ["first"]
    assert [s["category"] for s in load("list", "run.gplog")["sites"]] == ["bounds", "panic"]
    text = run("show", "3", "run.gplog").stdout
    for part in ("  kind      index out of bounds\n", "  promised  0 <= i < n\\x1b[31m\n", "  context   request = 4711 (0x1267)\n",
                 "            scene at helper.h:99\n", "            and 5 outer ones\n", "number 3 of 5 at this site",
                 "  in block  the first of 2\n", "kernel scene  number 42  grid 9,1,1  block 192,1,1  rank 1 of a cluster of 3",
                 "memory of table: 400 bytes from 0x7f0000001000, 0x7f00000010b3 is at byte 179 of it\n",
                 "> 7f00000010b0  20 21 22[23]24 25", "\nhelp: Where the index grows"):
        assert part in text, (part, text)


def check_excerpt():
    assert load("show", "run.gplog")["source_lines"] is None
    os.makedirs("tree/src")
    with open("tree/src/kernel.c", "w") as file:
        file.write(SOURCE)
    text = run("show", "run.gplog", "--source", "tree").stdout
    assert ">     6 |     GPURT_ASSERT(i < n," in text, text
    assert "\n        |     ^~~~~~~~~~~~\n" in text, text
    whole = load("show", "run.gplog", "--source", "tree")
    check_documented(whole, PAGE)
    check_documented(load("list", "run.gplog"), PAGE)
    lines = whole["source_lines"]
    assert (lines["first"], lines["line"], lines["column"], lines["width"]) == (3, 6, 5, 12)
    assert len(lines["lines"]) == 6 and lines["lines"][2] == "    int i = 7;"
    # What is not called like a source is never opened, however a log names it.
    assert load("show", "6", "run.gplog")["source_lines"] is None
    # A file that is shorter than the panic's line is another version.
    with open("tree/src/kernel.c", "w") as file:
        file.write("short\n")
    assert load("show", "run.gplog", "--source", "tree")["source_lines"] is None


def texts_of(value):
    """Every text in an object, with the names of its fields."""
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts_of(item)
    if isinstance(value, str):
        yield value


def check_sarif():
    """Viewers show the texts decoded: nothing in one obeys or turns round, and what did is spelt out."""
    text = run("export", "--sarif", "run.gplog").stdout
    assert not CONTROL.search(text), text
    results = json.loads(text)["runs"][0]["results"]
    assert [r["ruleId"] for r in results] == ["gpurt/bounds", "gpurt/panic"], results
    assert results[0]["message"]["text"] == r"index 101 of 100 in q\x1b]0;evil\x07\xc2\x9b\xe2\x80\xae", results[0]
    for one in texts_of(json.loads(text)):
        assert not CONTROL.search(one), one


def check_other_grid():
    p = load("show", "6", "run.gplog")
    assert p["block"] == [1, 2, 0] and steps(p["before"]["warp"]) == list(range(300, 310)), p
    assert steps(p["before"]["sm"]) == [290, 291, *range(300, 310)], p


def check_box(*source):
    """The drained box still tells everything: one slot was never finished, three found none."""
    found = load("list", *source)
    assert found["panics"] == 5 and found["sources"][0]["left_out"] == 4, found
    assert "4 more were raised" in run("list", *source).stdout
    check_show(source)
    assert load("show", *source, "-n", "2")["operands"][0]["text"] == "103"


def write_core(path, *boxes):
    """A core dump as the kernel lays one: a segment for each box that the process had in its memory."""
    head = struct.pack("<4sBBBBB7xHHIQQQIHHHHHH", b"\x7fELF", 2, 1, 1, 0, 0, 4, 62, 1, 0, 64, 0, 0, 64, 56, len(boxes),
                       0, 0, 0)
    body = b""
    for box in boxes:
        with open(box, "rb") as file:
            data = file.read()
        head += struct.pack("<IIQQQQQQ", 1, 4, 4096 + len(body), 0x10000, 0, len(data), len(data), 4096)
        body += data
    with open(path, "wb") as file:
        file.write(head.ljust(4096, b"\0") + body)


def check_core(box):
    write_core("core", box)
    check_box("core")


def check_core_of_two(box):
    """A process that had two devices open: the panics of both, whatever order their memory has; each box once."""
    os.mkdir("second")
    subprocess.run([SCENE, "second"], check=True, stdout=subprocess.DEVNULL)
    (second,) = glob.glob("second/*.box")
    write_core("core", second, box, second)
    found = load("list", "core")
    assert found["panics"] == 10 and [s["left_out"] for s in found["sources"]] == [4, 4], found
    assert [site["count"] for site in found["sites"]] == [8, 2], found
    check_facts(load("show", "1", "core"))
    assert load("show", "6", "core")["operands"][0]["text"] == "101"
    check_watch("core", 10)
    # One of them does not reach to the end of the file, or is damaged: the other is shown.
    write_core("core", box, second)
    os.truncate("core", os.path.getsize("core") - 1)
    assert load("list", "core", status=1)["panics"] == 5
    assert "ends inside a box" in run("list", "core", status=1).stderr
    with open("core", "r+b") as file:
        file.seek(4096 + 8)
        file.write(b"\xff")
    run("list", "core", status=1)


def check_live():
    os.mkdir("live")
    with subprocess.Popen([SCENE, "live", "hang"], stdout=subprocess.PIPE, text=True) as app:
        try:
            assert app.stdout.readline() == "ready\n"
            check_box("-p", str(app.pid))
            assert load("list", "-p", str(app.pid))["sources"][0]["alive"] is True
        finally:
            app.kill()
    assert "No such process" in run("list", "-p", str(app.pid), status=1).stderr


def check_watch(name, count):
    """Told whole, each failure is what show tells of it, once."""
    text = run("watch", "--whole", name).stdout
    each = [run("show", str(n), name).stdout + "\n" for n in range(1, count + 1)]
    assert all(text.count(one) == 1 for one in each) and len(text) == sum(map(len, each)), text


def on_terminal(columns, **environment):
    master, slave = pty.openpty()
    subprocess.run(["stty", "rows", "24", "cols", str(columns)], stdin=slave, check=True)
    app = subprocess.Popen([PANIC, "show", "run.gplog"], stdout=slave, stdin=slave,
                           env={**os.environ, "TERM": "xterm", **environment})
    os.close(slave)
    text = b""
    try:
        while part := os.read(master, 65536):
            text += part
    except OSError:
        pass
    assert app.wait() == 0
    return text.decode()


def check_terminal():
    environment = {key: "" for key in ("NO_COLOR",)}
    text = on_terminal(60, **environment)
    assert "\x1b[1;31mindex 101" in text and "\x1b]" not in text
    for line in text.split("\r\n"):
        assert len(re.sub(r"\x1b\[[0-9;]*m", "", line)) <= 60, line
    assert "\x1b" not in on_terminal(60, NO_COLOR="1")


def check_refusals():
    for arguments in ((), ("dance", "run.gplog"), ("list",), ("show",), ("show", "1")):
        assert len(run(*arguments, status=2).stderr.splitlines()) == 1
    for arguments in (("list", "nothing.gplog"), ("list", "."), ("show", "9", "run.gplog"), ("list", "/dev/zero")):
        assert len(run(*arguments, status=1).stderr.splitlines()) == 1
    os.mkfifo("fifo")
    assert "is not a file" in run("list", "fifo", status=1, timeout=20).stderr
    with open("evil\x1b[31m.gplog", "w") as file:
        file.write("no log")
    assert "\x1b" not in run("list", "evil\x1b[31m.gplog", status=1).stderr
    # A damaged file is told of, the sound one is shown.
    assert load("list", "nothing.gplog", "run.gplog", status=1)["panics"] == 6
    with open("run.gplog", "rb") as file:
        data = bytearray(file.read())
    for at in range(len(data) // 3, len(data), 997):
        data[at] ^= 0x5A
    with open("damaged.gplog", "wb") as file:
        file.write(data)
    run("show", "damaged.gplog", status=1)


with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/PANIC_JSON.md")) as file:
    PAGE = file.read()
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    subprocess.run([SCENE, "."], check=True, stdout=subprocess.DEVNULL)
    (BOX,) = glob.glob("*.box")
    check_list()
    check_show(("run.gplog",))
    check_record()
    check_sarif()
    check_excerpt()
    check_other_grid()
    check_box(BOX)
    check_core(BOX)
    check_core_of_two(BOX)
    check_live()
    check_watch("run.gplog", 6)
    check_watch(BOX, 5)
    check_terminal()
    check_refusals()
print("all well")
