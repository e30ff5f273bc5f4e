#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A log in which whole blocks were deleted, doubled, swapped or exchanged: gpurt-log verify and cat say the same of it
and end with 1, cat shows each record that is there once, and repair makes a whole log of it. And: the END of a log that
was appended to has the sums of the whole file. Arguments: folder of the programs, make_log, make_course."""
import json
import os
import struct
import subprocess
import sys
import tempfile

LOG, PANIC, TOP = (os.path.join(sys.argv[1], name) for name in ("gpurt-log", "gpurt-panic", "gpurt-top"))
MAKE_LOG, MAKE_COURSE = sys.argv[2:4]
FILE, DICT, FRAME, INDEX, END, BLOB = range(1, 7)


def run(program, *arguments, status=0):
    done = subprocess.run([program, *arguments], capture_output=True, text=True)
    assert done.returncode == status, (arguments, done.returncode, done.stderr)
    return done


def blocks(data):
    """(type, bytes) of each; a FRAME with its rows."""
    found, at = [], 0
    while at < len(data):
        _, size, _, kind = struct.unpack_from("<IIIH", data, at)
        end = at + 8 + size
        if kind == FRAME:
            end += struct.unpack_from("<I", data, at + 24 + 64)[0]
        found.append((kind, data[at:end]))
        at = end
    return found


def write(name, parts):
    with open(name, "wb") as file:
        file.write(b"".join(block for _, block in parts))


def end_of(name):
    with open(name, "rb") as file:
        last = blocks(file.read())[-1]
    assert last[0] == END, last[0]
    names = ("index", "frames", "messages", "lost", "panics", "first_ns", "last_ns")
    return dict(zip(names, struct.unpack_from("<7Q", last[1], 24)))


def lines(name, status):
    done = run(LOG, "cat", "--jsonl", name, status=status)
    return sorted(done.stdout.splitlines()), done.stderr


def check(name, parts, said, records):
    """said: what verify and cat must say. records: what cat must show, as sorted lines."""
    write(name, parts)
    verify = run(LOG, "verify", name, status=1)
    found, cat = lines(name, 1)
    assert verify.stderr == cat and cat.count("\n") == 1, (verify.stderr, cat)
    assert said in cat and name in cat, (name, said, cat)
    assert found == records, (name, len(found), len(records))
    assert run(LOG, "export", "--to", "csv", name, "-o", "-", status=1).stderr == cat
    assert run(LOG, "stat", name).stderr == cat
    tail = run(LOG, "tail", "-n", "9", "--jsonl", name, status=1)
    assert set(tail.stdout.splitlines()) == set(run(LOG, "cat", "--jsonl", name, status=1).stdout.splitlines()[-9:]), name
    assert "left out" not in said or tail.stderr, tail
    # A replay reads the whole file: it shows what cat shows, and says what cat says.
    top = run(TOP, "--once", "--json", "--replay", name, status=125)
    assert top.stderr == cat.replace("gpurt-log:", "gpurt-top:"), (top.stderr, cat)
    messages = sum(json.loads(record)["kind"] != "loss" for record in records)
    assert json.loads(top.stdout)["records"] == messages, (name, top.stdout[:300], messages)
    mended = "mended-" + name
    if os.path.exists(mended):
        os.unlink(mended)
    run(LOG, "repair", name, "-o", mended)
    run(LOG, "verify", mended)
    assert lines(mended, 0)[0] == records, name


def check_moves():
    run(MAKE_LOG, "whole.gplog", "3000", "1000", "7", "250")
    with open("whole.gplog", "rb") as file:
        parts = blocks(file.read())
    frames = [i for i, (kind, _) in enumerate(parts) if kind == FRAME]
    assert len(frames) >= 12, len(frames)
    everything, _ = lines("whole.gplog", 0)
    run(LOG, "verify", "whole.gplog")
    a, b, last = frames[3], frames[9], frames[-1]
    counted = [struct.unpack_from("<Q", parts[i][1], 24 + 24)[0] for i in frames]

    def without(*gone):
        write("some.gplog", [p for i, p in enumerate(parts) if i not in gone])
        return lines("some.gplog", 1)[0]

    assert len(without(a)) < len(everything)
    check("deleted.gplog", [p for i, p in enumerate(parts) if i != a], "1 frame missing", without(a))
    check("two.gplog", [p for i, p in enumerate(parts) if i not in (a, b)], "2 frames missing", without(a, b))
    check("last.gplog", [p for i, p in enumerate(parts) if i != last], "1 frame missing", without(last))
    check("double.gplog", parts[: a + 1] + parts[a:], "1 frame left out that came before", everything)
    swapped = list(parts)
    swapped[a], swapped[b] = parts[b], parts[a]
    check("swapped.gplog", swapped, "out of place", everything)
    replaced = list(parts)
    replaced[b] = parts[a]
    check("replaced.gplog", replaced, "1 frame missing, 1 frame left out that came before", without(b))
    no_index = [p for p in parts if p[0] != INDEX]
    check("no_index.gplog", no_index, "the index does not fit", everything)
    damaged = list(parts)
    damaged[a] = (FRAME, parts[a][1][:-9] + b"damage" + parts[a][1][-3:])
    check("rows.gplog", damaged, "1 damaged frame left out", without(a))
    head = list(parts)
    head[a] = (FRAME, b"head" + parts[a][1][4:])
    check("head.gplog", head, "1 damaged frame left out, ", without(a))
    total = sum(counted)
    said = run(LOG, "verify", "head.gplog", status=1).stderr
    assert f"of {total} records {total - counted[frames.index(a)]} are here" in said, said
    for name, words in (("deleted.gplog", "1 frame missing"), ("head.gplog", "1 damaged frame left out"),
                        ("rows.gplog", "1 damaged frame left out")):
        listed = run(PANIC, "list", name, status=1)
        assert f"{name}: {words}" in listed.stdout and not listed.stderr, (name, listed)
        for command in ("list", "--json", name), ("export", "--sarif", name), ("diff", name, name):
            done = run(PANIC, *command, status=1)
            assert f"gpurt-panic: {name}: {words}" in done.stderr, (command, done)
    # The panic's own frame is whole, one with what came before it is not.
    failed = [n for n, i in enumerate(frames) if struct.unpack_from("<I", parts[i][1], 24 + 44)[0]]
    near = frames[failed[-1] - 1]
    before = list(parts)
    before[near] = (FRAME, parts[near][1][:-9] + b"damage" + parts[near][1][-3:])
    write("near.gplog", before)
    shown = run(PANIC, "show", "-r", "1024", "near.gplog", status=1)
    assert "near.gplog: 1 damaged frame left out" in shown.stdout, shown
    listed = run(PANIC, "list", "near.gplog", status=1)
    assert "near.gplog: 1 damaged frame left out" in listed.stdout, listed
    # What ends before its END is not damaged: its writer may still be there.
    write("open.gplog", [p for i, p in enumerate(parts) if i <= b])
    assert "not closed" in run(LOG, "verify", "open.gplog").stdout


def check_same_size():
    """Frames of one size change places: the index still finds a frame where it looks for one."""
    run(MAKE_COURSE, "bulk.gplog", "2000", "20")
    with open("bulk.gplog", "rb") as file:
        parts = blocks(file.read())
    frames = [i for i, (kind, _) in enumerate(parts) if kind == FRAME]
    sizes = {}
    for i in frames:
        sizes.setdefault(len(parts[i][1]), []).append(i)
    a, b = next(found for found in sizes.values() if len(found) > 1)[:2]
    everything, _ = lines("bulk.gplog", 0)
    swapped = list(parts)
    swapped[a], swapped[b] = parts[b], parts[a]
    check("same.gplog", swapped, "out of place", everything)


def check_append():
    """Two runs into one file by gpurt's own writer: open, then closed."""
    run(MAKE_LOG, "run.gplog", "3000", "1000", "3")
    first = end_of("run.gplog")
    run(MAKE_LOG, "run.gplog", "500", "1000", "4", "append")
    end = end_of("run.gplog")
    stat = json.loads(run(LOG, "stat", "--json", "run.gplog").stdout)
    assert end["messages"] == stat["records"] > first["messages"], (first, end, stat)
    assert end["panics"] == stat["panics"] and end["lost"] == stat["dropped"], (end, stat)
    assert (end["first_ns"], end["last_ns"]) == (stat["first_ns"], stat["last_ns"]), (end, stat)
    assert end["frames"] == stat["frames"], (end, stat)
    run(LOG, "verify", "run.gplog")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        check_moves()
        check_same_size()
        check_append()


main()
