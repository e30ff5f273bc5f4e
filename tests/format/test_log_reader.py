#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A reader made from docs/LOG_FORMAT.md alone (log_reader.py) and gpurt-log say the same of logs, field by field: of logs
that hold every number of every table of the page, of appended, torn and damaged ones, and of what gpurt-record makes of
programs. Arguments: folders of the programs and of the tests, hang_app, doomed_app."""
import json
import os
import random
import subprocess
import sys
import tempfile
import time

import log_maker
from log_file import Log
from log_object import object_of
from log_page import *
from log_reader import about_of, parts_of, records

BIN, TESTS = (os.path.abspath(folder) for folder in sys.argv[1:3])
HANG_APP, DOOMED_APP = (os.path.abspath(path) for path in sys.argv[3:5])
DUMPS = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "postmortem", "dumps"))
GPURT_LOG, RECORD = (os.path.join(BIN, name) for name in ("gpurt-log", "gpurt-record"))
ENV = dict({name: value for name, value in os.environ.items() if not name.startswith("CUDA_")},
           GPURT_CUPTI="off", GPURT_BACKEND="cpu", TMPDIR=os.getcwd())
LONG = 100  # a busy machine is slow
met = {}    # what was met of each table of numbers


def run(*command, status=(0,)):
    done = subprocess.run(command, capture_output=True, env=ENV)
    assert status is None or done.returncode in status, (command, done)
    return done


def compare(path, what):
    """Returns: the log, as the reader has it."""
    cat = run(GPURT_LOG, "cat", "--jsonl", path, status=(0, 1))
    theirs = [json.loads(line, object_pairs_hook=list) for line in cat.stdout.splitlines()]
    log = Log(path)
    ours = [[list(field) for field in line.items()] for line in records(log)]
    for i, (our, their) in enumerate(zip(ours, theirs)):
        their = [list(field) for field in their]
        if ours[i][-1][0] == "fields":
            our[-1][1] = list(our[-1][1].items())
        assert our == their, f"{what}, record {i}:\nreader    {our}\ngpurt-log {their}"
    assert len(ours) == len(theirs), (what, len(ours), len(theirs))
    assert bool(log.faults) == bool(cat.returncode), (what, log.faults, cat)
    verify = run(GPURT_LOG, "verify", path, status=None)
    assert verify.returncode == cat.returncode, (what, verify, cat)
    return log


def whole(path, what):
    """A log without a fault: INDEXes and ENDs are what the FRAMEs add up to. Whatever is in it is met."""
    log = compare(path, what)
    assert not log.faults, (what, log.faults)
    meet(log)
    return log


def written(path, what):
    """A whole log by the writer itself: its FRAMEs are what the rows add up to."""
    log = whole(path, what)
    for frame in log.frames:
        assert not frame.wrong_sums(), (what, frame.number, frame.wrong_sums())
    return log


# ---------------------------------------------------------------- what was met
def met_of(mark, numbers):
    met.setdefault(mark, set()).update(numbers)


def meet_blocks(log):
    heads = [read_block(log.data, at) for at, _ in log.blocks]
    met_of("GPLOG_ format.h FILE DICT FRAME INDEX END BLOB", [head["type"] for head in heads])
    met_of("GPLOG_ format.h HELD WHOLE", [head["flags"] & bit for head in heads for bit in vars(FLAG).values()])
    met_of("GPLOG_ format.h ROWS PACKED", [frame.encoding for frame in log.frames])
    met_of("GPLOG_BLOB_ format.h GPU_CORE WAITS", [
        read_blob(log.data, at + BLOCK_BYTES)["kind"] for at, type_ in log.blocks if type_ == BLOCK.BLOB])
    met_of("GPURT_SECTION_ box.h", [section["kind"] for section in log.sections])
    met_of("GPURT_DEF_ box.h NONE SITE STRING", [entry.kind for entry in log.defs.values()])


def meet_panic(row, site):
    about = about_of(row, site)
    met_of("GPURT_CATEGORY_ box.h", [about[0] & 0xFFFF])
    for kind, words in parts_of(row, site):
        met_of("GPLOG_PART_ format.h", [kind])
        if kind == PART.HELD:
            met_of("GPURT_HELD_ box.h", words[::4])


def meet_object(found):
    met_of("GPURT_FIELD_ objectclass.h", [field.kind for field in found.class_.fields])
    met_of("GPURT_OBJECT_ objectclass.h ENDED", [ENDED] if found.ended else [])


def meet(log):
    meet_blocks(log)
    for row in log.rows():
        site = log.defs.get(row.site)
        met_of("GPURT_KIND_ kinds.h LOG TEXT LAP LOSS PANIC FAULT OBJECT HANG LIFE TASK NONE", [row.kind])
        met_of("GPURT_FORM_ record.h", [row.form])
        met_of("GPURT_LEVEL_ record.h", [row.level])
        met_of("activity", [row.kind])
        if site:
            met_of("GPURT_TYPE_ record.h", [site.types >> 4 * n & 15 for n in range(site.arg_count)])
        if row.kind == KIND.LOSS and row.count:
            met_of("GPURT_LOSS_ record.h", row.words[:1])
        if row.kind == KIND.PANIC and site:
            meet_panic(row, site)
        if row.kind == KIND.OBJECT and object_of(row, log):
            meet_object(object_of(row, log))


def check_all_met():
    for mark, rows in page.tables.items():
        if mark.startswith(("struct", "numbers GPURT_CLASS_")):
            continue
        name = mark.replace("numbers ", "")
        lacking = {int(row[0]) for row in rows} - met[name]
        if name.startswith("GPURT_DEF_"):
            lacking -= {DEF.NONE}  # in no log
        assert not lacking, f"no log has {sorted(lacking)} of the table {name}"


# ---------------------------------------------------------------- logs
def check_made():
    """Every number of every table; also with the INDEXes of the writer, in more frames than one of them has."""
    log_maker.make("made.gplog", seed=1, processes=True, frame_rows=3)
    whole("made.gplog", "made")
    run(GPURT_LOG, "repair", "made.gplog", "-o", "indexed.gplog")
    log = whole("indexed.gplog", "with indexes")
    assert len(log.frames) > 1024 and log.newest(BLOCK.END), len(log.frames)
    assert sum(type_ == BLOCK.INDEX for _, type_ in log.blocks) > 1
    log_maker.make("few.gplog", seed=2, processes=False, frame_rows=400)
    whole("few.gplog", "few frames, without processes")


def check_generated():
    """What the tests of the log feed on."""
    make = {name: os.path.join(TESTS, name) for name in
            ("make_log", "make_course", "make_programs", "make_several", "panic_scene")}
    run(make["make_log"], "many.gplog", "2600", "500", "7", "2")
    assert len(written("many.gplog", "many frames").frames) > 1024
    run(make["make_log"], "open.gplog", "300", "500", "7", "open")
    assert not written("open.gplog", "without an end").newest(BLOCK.END)
    for name in ("course", "programs", "several"):
        run(make[f"make_{name}"], f"{name}.gplog")
        written(f"{name}.gplog", name)
    os.mkdir("scene")
    run(make["panic_scene"], "scene")
    written("scene/run.gplog", "panics")


def ends(log):
    return [read_end(log.data, at + BLOCK_BYTES) for at, type_ in log.blocks if type_ == BLOCK.END]


def check_recorder_files(log):
    """The file, and what is appended to it, begin with a FILE of the recorder, who has no pid."""
    types = [type_ for _, type_ in log.blocks]
    for i in [0] + [i + 1 for i, type_ in enumerate(types[:-1]) if type_ == BLOCK.END]:
        file = read_file(log.data, log.blocks[i][0] + BLOCK_BYTES)
        assert types[i] == BLOCK.FILE and read_identity(file["identity"])["pid"] == 0, (i, types)


def check_appended():
    """Three recordings, one file: sections add up, and each END has the sums of the whole file (log.check_end)."""
    feed = os.path.join(TESTS, "feed_app")
    run(RECORD, "-q", "-o", "run.gplog", "--", feed, "40", "panic", "boxes=2")
    first = written("run.gplog", "recorded")
    run(RECORD, "-q", "-a", "-o", "run.gplog", "--", feed, "30")
    run(RECORD, "-q", "-a", "--restart=1", "--restart-delay", "1ms", "-o", "run.gplog", "--", feed, "20", "boxes=3",
        "exit=3", status=(3,))
    log = written("run.gplog", "appended")
    files = [read_file(log.data, at + BLOCK_BYTES) for at, type_ in log.blocks if type_ == BLOCK.FILE]
    counts = [file["section_count"] for file in files]
    assert counts[0] == 0 and counts == sorted(counts) and counts[-1] >= 3, counts
    check_recorder_files(log)
    assert len(ends(log)) == 3 and ends(log)[0] == ends(first)[0]
    assert [end["panics"] for end in ends(log)] == [2] * 3, ends(log)
    assert ends(log)[2]["messages"] > ends(log)[1]["messages"] > ends(log)[0]["messages"] > 40
    assert {end["first_ns"] for end in ends(log)} == {ends(first)[0]["first_ns"]}
    assert any(row.kind == KIND.LIFE and row.count == 6 for row in log.rows())


def blob_of(log, kind):
    """The bytes that the first row of a kind names, behind its arguments, its place and an address."""
    row = next(row for row in log.rows() if row.kind == kind)
    types = log.defs[row.site].types
    at = sum(TYPE_WORDS[types >> 4 * n & 15] for n in range(16)) + 10 + 3
    return log.blobs[row.words[at] | row.words[at + 1] << 32]


def check_failures():
    """A GPU's fault and device code that waits for itself, as a recorder writes them: each names its BLOB."""
    with open("trap.core", "wb") as file:
        file.write(run("zstd", "-dcq", os.path.join(DUMPS, "trap.core.zst")).stdout)
    run(RECORD, "-q", "--gpu-core", "-o", "fault.gplog", "--", DOOMED_APP, "trap.core", "box",
        status=(128 + 6,))
    assert blob_of(written("fault.gplog", "fault"), KIND.FAULT)[:4] == b"\x7fELF"
    recorder = subprocess.Popen([RECORD, "-q", "--hang-after", "0.1", "-o", "hang.gplog", "--",
                                 HANG_APP, "ring"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=ENV)
    hung, end = int(recorder.stdout.readline()), time.monotonic() + LONG
    while not os.path.exists("hang.gplog") or not any(row.kind == KIND.HANG for row in Log("hang.gplog").rows()):
        assert time.monotonic() < end, "no HANG"
        time.sleep(0.02)
    os.kill(hung, 9)
    recorder.communicate()
    assert blob_of(written("hang.gplog", "hang"), KIND.HANG)


# ---------------------------------------------------------------- torn and damaged
def damaged(data, way, rng):
    at = rng.randrange(len(data))
    end = at + rng.choice((1, 8, 100, 1000))
    if way == "torn":
        return data[:at]
    if way == "flipped":
        return data[:at] + bytes([data[at] ^ 1 << rng.randrange(8)]) + data[at + 1:]
    if way == "zeros":
        return data[:at] + bytes(len(data[at:end])) + data[end:]
    if way == "gone":
        return data[:at] + data[end:]
    return data[:at] + rng.randbytes(end - at) + data[at:]


def check_damage():
    """Whatever was done to a log: the same records, and a fault where gpurt-log says one."""
    rng = random.Random(24)
    run(os.path.join(TESTS, "make_log"), "small.gplog", "300", "1000", "3", "20")
    run(os.path.join(TESTS, "make_log"), "small.gplog", "100", "1000", "4", "append")
    faults = 0
    for name in ("small.gplog", "run.gplog", "fault.gplog"):
        with open(name, "rb") as file:
            data = file.read()
        for way in ("torn", "flipped", "zeros", "gone", "grown") * 5:
            with open("damaged.gplog", "wb") as file:
                file.write(damaged(data, way, rng))
            faults += bool(compare("damaged.gplog", f"{name} {way}").faults)
    assert faults > 50, faults


def check_moved():
    """Frames in another order, twice, left out, one whose rows are torn the first time; an END with other sums."""
    frames = [log_maker.frame(n, [log_maker.row_bytes([n], time_ns=n * 10 + i, form=FORM.LANE, kind=KIND.LOG)
                                  for i in range(3)]) for n in range(40)]
    bad = frames[1][:-3] + b"???"
    late = [log_maker.frame(n, [log_maker.row_bytes([n], time_ns=100 - n, kind=KIND.LOG)]) for n in range(40)]
    for what, parts in (("swapped", [0, 2, 1, 3]), ("double", [0, 1, 1, 2]), ("missing", [0, 3]), ("first", [2, 3])):
        write(what, [frames[n] for n in parts])
        assert compare(what, what).faults
    for flags, wrong in ((FLAG.WHOLE, True), (0, False)):  # older writers told the sums of a run
        end = log_maker.block(BLOCK.END, log_maker.pack("gplog_end_t", frames=1, messages=99), flags)
        write("end", [frames[0], end])
        assert bool(compare("end", f"END with flags {flags}").faults) == wrong
    write("again", [frames[0], bad, frames[1], frames[2]])
    assert compare("again", "again").faults
    write("late", late)
    whole("late", "late")


def write(name, frames):
    with open(name, "wb") as file:
        file.write(b"".join([log_maker.file_block(), *frames]))


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ENV["TMPDIR"] = folder
        for check in (check_made, check_generated, check_appended, check_failures, check_damage, check_moved,
                      check_all_met):
            start, wall = time.process_time(), time.monotonic()
            check()
            print(f"{check.__name__}: ok, {time.process_time() - start:.1f} s of {time.monotonic() - wall:.1f} s")


main()
