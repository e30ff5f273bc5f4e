#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""gpurt-panic on GPU core dumps: each report names kernel, place, line and cause as the program that died did.
Arguments: folders of the programs and of the tests."""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile

PANIC = os.path.join(sys.argv[1], "gpurt-panic")
PACK = os.path.join(sys.argv[2], "dump_pack")
HERE = os.path.dirname(os.path.abspath(__file__))
DUMPS = os.path.join(HERE, "dumps")
TREE = os.path.dirname(os.path.dirname(HERE))
CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
TRUTH = re.compile(r"kernel (\S+) block (\S+) thread (\S+) warp (\d+) lane (\d+) sm (\d+) slot (\d+) line (\d+) "
                   r"address (\S+)")
# name: kind, what the excerpt's line says, a word of the remedy
DUMP_KINDS = {
    "trap": ("trap", "__trap();", "GPURT_PANIC"),
    "address": ("illegal-address", "at)[2] = key;", "index"),
    "misaligned": ("misaligned-address", "+ 4) = key;", "cast"),
    "shared": ("shared-out-of-range", "/ 8] = key;", "shared_bytes"),
    "stack": ("stack-overflow", "", "cudaLimitStackSize"),
    "assert": ("assert", "assert(key == 0", "standard error"),
    "inlined": ("illegal-address", "= value;", "index"),
    "cluster": ("illegal-address", "key += ", "index"),
    "without_lines": ("illegal-address", None, "-lineinfo"),
    "debug": ("illegal-address", "at)[2] = key;", "index"),
}


def run(*arguments, status=0):
    done = subprocess.run([PANIC, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout


def check_documented(value, page):
    for item in value if isinstance(value, list) else value.values():
        if isinstance(item, (list, dict)):
            check_documented(item, page)
    if isinstance(value, dict):
        missing = [key for key in value if f"`{key}`" not in page]
        assert not missing, missing


def check_dump(name, page):
    kind, excerpt, remedy = DUMP_KINDS[name]
    core = f"{name}.core"
    subprocess.run([PACK, "unpack", os.path.join(DUMPS, f"{name}.core.zst"), core], check=True)
    with open(os.path.join(DUMPS, f"{name}.txt"), encoding="ascii") as file:
        kernel, block, thread, warp, lane, sm, slot, line, _ = TRUTH.match(file.read()).groups()
    text = run("show", core, "--source", TREE)
    assert not CONTROL.search(text), text
    assert text.startswith(f"GPU fault 1 of 1 in {core}\n"), text
    assert f"block {block}  thread {thread}  warp {warp}  lane {lane}" in text, (name, text)
    assert f"SM {sm}, warp slot {slot}" in text and "NVIDIA H200" in text, text
    assert re.search(rf"kernel {kernel}\b", text), text
    assert re.search(rf"^help: .*{re.escape(remedy)}|^ +Build.*{re.escape(remedy)}", text, re.M), (remedy, text)
    assert len(text.splitlines()) <= 45, "more than a screen"
    if excerpt is not None:
        shown = re.search(r"^> +(\d+) \| (.*)\n +\| +\^", text, re.M)
        assert shown, (name, text)
        assert excerpt in shown.group(2), (name, shown.group(0))
        assert kind == "stack-overflow" or shown.group(1) == line, (name, line, shown.group(0))
    found = json.loads(run("show", "--json", core, "--source", TREE))
    check_documented(found, page)
    assert found["kind"] == "fault" and found["source"]["kind"] == "gpu-core", found
    assert found["fault"]["kind"] == kind, found["fault"]["kind"]
    assert found["fault"]["kernel"] == kernel
    assert [",".join(map(str, found[k])) for k in ("block", "thread")] == [block, thread]
    assert [found[k] for k in ("sm", "warp_slot", "warp", "lane")] == [int(v) for v in (sm, slot, warp, lane)]
    if excerpt is not None and kind != "stack-overflow":
        assert found["line"] == int(line) == found["fault"]["frames"][0]["line"]
    return found


def check_calls(found):
    frames = {name: [frame["function"].split("::")[-1] for frame in f["fault"]["frames"]] for name, f in found.items()}
    assert frames["trap"] == ["fail", "go_deeper", "doomed"], frames["trap"]
    assert frames["inlined"][:2] == ["store_inlined", "fail"], frames["inlined"]
    assert found["misaligned"]["fault"]["instruction"]["address"].endswith("4")
    assert found["misaligned"]["fault"]["instruction"]["bytes"] == 8
    assert found["shared"]["fault"]["instruction"]["address"] == "0x60000"
    assert sum(group["warps"] for group in found["trap"]["fault"]["others"]) == 17
    assert found["cluster"]["fault"]["launch"]["cluster"] == [2, 1, 1]


def check_list():
    text = run("list", "address.core", "trap.core", "inlined.core")
    assert "3 faults at 3 sites" in text, text
    found = json.loads(run("list", "--json", "address.core", "trap.core"))
    assert [site["kind"] for site in found["sites"]] == ["fault", "fault"], found
    # the same failure twice is one site
    found = json.loads(run("list", "--json", "address.core", "address.core"))
    assert [site["count"] for site in found["sites"]] == [2], found


def check_ended():
    """A dump in which only the SM remembers the fault tells what is known, and no thread."""
    with open("address.core", "rb") as file:
        dump = bytearray(file.read())
    table, = struct.unpack_from("<Q", dump, 40)
    count, = struct.unpack_from("<H", dump, 60)
    for i in range(count):
        _, kind, _, _, offset, size, _, _, _, stride = struct.unpack_from("<IIQQQQIIQQ", dump, table + 64 * i)
        at = {0x8000000f: 32, 0x8000000e: 24}.get(kind)  # lanes: exception; warps: whether the place is known
        for row in range(offset, offset + size, stride) if at else ():
            dump[row + at:row + at + 4] = bytes(4)
    with open("ended.core", "wb") as file:
        file.write(dump)
    text = run("show", "ended.core", "--source", TREE)
    assert "illegal address in" in text and "block and thread are not known" in text and "SM 126" in text, text
    found = json.loads(run("show", "--json", "ended.core"))
    assert found["fault"]["warp_ended"] and found["fault"]["registers"] == [] and found["sm"] == 126, found
    assert found["line"] == json.loads(run("show", "--json", "address.core"))["line"]


def check_vague():
    """All lanes of the marked warp run, and have run on: no lane, no thread and no address is claimed."""
    with open("address.core", "rb") as file:
        dump = bytearray(file.read())
    table, = struct.unpack_from("<Q", dump, 40)
    count, = struct.unpack_from("<H", dump, 60)
    for i in range(count):
        _, kind, _, _, offset, size, _, _, _, stride = struct.unpack_from("<IIQQQQIIQQ", dump, table + 64 * i)
        for row in range(offset, offset + size, stride) if kind == 0x8000000e else ():
            if dump[row + 24]:  # the failed instruction is known
                dump[row + 16:row + 20] = dump[row + 12:row + 16]
    with open("vague.core", "wb") as file:
        file.write(dump)
    text = run("show", "vague.core", "--source", TREE)
    assert "kernel doomed (among 24 lanes, blocks 1)" in text and "24 lanes, 1 warp, 1 block" in text, text
    assert "block 1,1,0  warp 1, one or more of its threads from" in text and "  thread 7" not in text, text
    assert "0xffffff00 ran together, not known which of them failed" in text, text
    assert "which     one or more of these 24 lanes: the warp ran on" in text, text
    found = json.loads(run("show", "--json", "vague.core"))
    which = found["fault"]["which"]
    assert found["failed"] == 0 and found["lanes"] == which["may_be"] == 0xffffff00, found
    assert which["clue"] == "unknown" and not which["sure"] and which["addresses"] == [], which
    assert found["fault"]["instruction"]["address"] is None, found["fault"]["instruction"]


def check_hang():
    subprocess.run([PACK, "unpack", os.path.join(DUMPS, "hang.core.zst"), "hang.core"], check=True)
    text = run("show", "hang.core", "--source", TREE)
    assert re.search(r"17 warps of +6 blocks +fault_plain.cu:147 in doomed, polls at lines 147-149  <- suspect", text), text
    others = json.loads(run("show", "--json", "hang.core"))["fault"]["others"]
    assert [(group["doing"], group["loop"], group["suspect"]) for group in others] == [("polls", [147, 149], True)] * 2, others


def check_damage():
    with open("address.core", "rb") as file:
        whole = file.read()
    for size in (0, 10, 63, 64, 1000, len(whole) // 2, len(whole) - 1):
        with open("cut.core", "wb") as file:
            file.write(whole[:size])
        done = subprocess.run([PANIC, "show", "cut.core"], capture_output=True, text=True)
        assert done.returncode == 1, (size, done)
        if done.stdout:
            assert size == len(whole) - 1 and "the dump is cut off" in done.stdout, (size, done.stdout)
        else:
            assert len(done.stderr.splitlines()) == 1, done.stderr


def main():
    with open(os.path.join(TREE, "docs", "PANIC_JSON.md"), encoding="utf-8") as file:
        page = file.read()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        found = {name: check_dump(name, page) for name in DUMP_KINDS}
        check_calls(found)
        check_list()
        check_ended()
        check_vague()
        check_hang()
        check_damage()


main()
