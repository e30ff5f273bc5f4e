#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""log_reader.py FILE... - the records of logs, as `gpurt-log cat --jsonl` prints them.

A reader made from docs/LOG_FORMAT.md alone: structs, numbers and words come from the tables of
that page when it runs (log_page.py), the rules between them are written out in log_file.py and
here. It shares nothing with logstore/, so that what both say of a file is what the page says.
zstd and printf come from their libraries. Whatever is wrong with a file is in Log.faults."""
import ctypes
import json
import re
import struct
import sys

from log_file import Log
from log_object import object_of
from log_page import *


def load_printf():
    libc = ctypes.CDLL(None)
    room = ctypes.create_string_buffer(1024)

    def printf(spec, value):
        libc.snprintf(room, len(room), spec, value)
        return room.value
    return printf


PRINTF = load_printf()
CONVERSION = re.compile(rb"%([-+ #0]*)([1-9]\d*)?(?:\.(\d*))?[hlLzjt]*([diouxXcspeEfFgGaA])")
SIGNED = (TYPE.I32, TYPE.I64, TYPE.CHAR)


class Argument:
    """One argument of a message. type NONE: missing."""

    def __init__(self, type_, words):
        self.type = type_ if TYPE_WORDS.get(type_) == len(words) else TYPE.NONE
        self.wide = len(words) == 2
        self.bits = 64 if self.wide else 32
        self.value = words[0] | words[1] << 32 if self.wide else words[0] if words else 0
        self.number, self.told = self.value, None
        if self.type in SIGNED and self.value >> self.bits - 1:
            self.number -= 1 << self.bits
        if self.type == TYPE.F32:
            self.number = struct.unpack("<f", struct.pack("<I", self.value))[0]
        if self.type == TYPE.F64:
            self.number = struct.unpack("<d", struct.pack("<Q", self.value))[0]


def panic_arguments(types):
    """How many arguments a panic has: up to the first without words, at most 14."""
    return next((n for n in range(14) if not TYPE_WORDS.get(types >> 4 * n & 15)), 14)


def arguments(types, words, skip=0):
    """The arguments of a message from number `skip` on, without an end."""
    at = 0
    for n in range(skip):
        at += TYPE_WORDS.get(types >> 4 * n & 15, 0)
    n = skip
    while True:
        type_ = types >> 4 * n & 15 if n < 16 else TYPE.NONE
        size = TYPE_WORDS.get(type_, 0)
        yield Argument(type_, words[at:at + size])
        at += size
        n += 1


def integer(arg, flags, sizes, letter, kind):
    """Rules 3, 6 and 7."""
    if 64 <= kind <= 127 and arg.wide:
        if arg.value == ALL64:
            return b"unknown"
        if kind == ACT.POOL and arg.value == ALL64 >> 1:
            return b"never"
    if letter == b"c" and not arg.wide:
        return bytes([arg.value & 255])
    if letter == b"p":
        return b"0x%x" % arg.value
    if letter not in b"diouxX":
        letter = b"d" if arg.type in SIGNED else b"u"
    value = arg.value
    if letter in b"di" and value >> arg.bits - 1:
        value -= 1 << arg.bits
    return PRINTF(b"%" + flags + sizes + b"ll" + letter, ctypes.c_longlong(value))


def at_most_256(digits):
    return digits and b"%d" % min(int(digits), 256)


def converted(match, arg, log, kind):
    flags, width, precision, letter = match.groups()
    width, precision = at_most_256(width), at_most_256(precision)
    if arg.type == TYPE.NONE:
        return b"<missing>"
    if arg.told is not None:
        return arg.told
    if arg.type == TYPE.STRING:
        text = log.string(arg.value)
        if text is None:
            return b"<string %d>" % arg.value
        text = text.partition(b"\0")[0]
        text = text if precision is None else text[:int(precision or 0)]
        pad = b" " * (int(width or 0) - len(text))
        return text + pad if b"-" in flags else pad + text
    sizes = (width or b"") + (b"" if precision is None else b"." + precision)
    if arg.type in (TYPE.F32, TYPE.F64):
        letter = letter if letter in b"eEfFgGaA" else b"g"
        return PRINTF(b"%" + flags + sizes + letter, ctypes.c_double(arg.number))
    return integer(arg, flags, sizes, letter, kind)


def formatted(text, args, log, kind=0):
    """The message that a format makes of its arguments: bytes, at most 4,095."""
    out, at = [], 0
    while at < len(text):
        percent = text.find(b"%", at)
        if percent < 0:
            out.append(text[at:])
            break
        out.append(text[at:percent])
        match = CONVERSION.match(text, percent)
        if text[percent:percent + 2] == b"%%":
            out.append(b"%")
            at = percent + 2
        elif match:
            out.append(converted(match, next(args), log, kind))
            at = match.end()
        else:
            out.append(b"%")
            at = percent + 1
    return b"".join(out)[:4095]


ABOUT_CONDITION = 12


def parts_of(row, site):
    """(kind, words) of each part of a panic."""
    at = sum(TYPE_WORDS.get(site.types >> 4 * n & 15, 0)
             for n in range(panic_arguments(site.types)))
    if at + 10 > row.count:
        return
    at += 10 + 2 * bin(row.words[at + 7]).count("1")
    while at < row.count:
        kind, size = row.words[at] >> 24, row.words[at] & 0xFFFFFF
        yield kind, row.words[at + 1:at + 1 + size]
        at += 1 + size


def about_of(row, site):
    """The words of the last part ABOUT of a panic; what lacks is 0."""
    about = ()
    for kind, words in parts_of(row, site):
        about = words if kind == PART.ABOUT else about
    return [*about, *[0] * 32]


OPERAND = {TYPE.I32: b"%d", TYPE.CHAR: b"%d", TYPE.F32: b"%.9g", TYPE.F64: b"%.17g",
           TYPE.I64: b"%d", TYPE.PTR: b"%p", TYPE.STRING: b"%s"}


def panic_message(row, site, log):
    about = about_of(row, site)
    category = about[0] & 0xFFFF
    own = min(about[0] >> 16, panic_arguments(site.types))
    if site.format:
        return formatted(site.format, arguments(site.types, row.words, own), log, row.kind)
    condition = log.string(about[ABOUT_CONDITION])
    if condition is None:
        condition = b"<string %d>" % about[ABOUT_CONDITION]
    if category == CATEGORY.UNREACHABLE:
        return b"unreachable code was reached"
    if about[ABOUT_CONDITION] == 0:
        return b"panic"
    if own < 2:
        return condition + b" does not hold"
    pair, args = [], arguments(site.types, row.words)
    for arg in (next(args), next(args)):
        spec = OPERAND.get(arg.type, b"%u")
        text = log.string(arg.value) if arg.type == TYPE.STRING else None
        pair.append(converted(CONVERSION.match(spec), arg, log, 0) if text is None else text)
    if category == CATEGORY.BOUNDS:
        return b"index %s out of bounds of %s: %s" % (*pair, condition)
    return b"%s does not hold: %s and %s" % (condition, *pair)


def demangled(name):
    """A C++ name as its author wrote it, or None."""
    if not name or not name.startswith(b"_Z"):
        return None
    try:
        library = ctypes.CDLL("libstdc++.so.6")
    except OSError:
        return None
    library.__cxa_demangle.restype = ctypes.c_char_p
    library.__cxa_demangle.argtypes = [ctypes.c_char_p] + [ctypes.c_void_p] * 3
    return library.__cxa_demangle(name, None, None, None)


def launched(args, log):
    """The arguments of a DRIVER_LAUNCH: the name, its first word, is demangled."""
    for arg in args:
        if arg.type == TYPE.STRING:
            arg.told = demangled(log.string(arg.value))
        yield arg
        if arg.type != TYPE.NONE:
            break
    yield from args


def message(row, words, log):
    """The text of a row, or of one lane of it, whose words are given."""
    if row.kind == KIND.LOSS:
        reason = row.words[0] if row.count else 0
        words = LOSS_WORDS.get(reason, "?" if reason else "")
        return b"%d lost: %s" % (row.lost(), words.encode())
    if row.kind == KIND.TEXT:
        data = struct.pack(f"<{row.count}I", *row.words)
        return data[4:4 + row.words[0]] if row.count else b""
    site = log.defs.get(row.site)
    if row.kind == KIND.OBJECT:
        found = object_of(row, log)
        if found:
            return found.message(log)[:4095]
    if row.kind == KIND.OBJECT or site is None or site.kind != DEF.SITE:
        return b"<site %d, kind %d>" % (row.site, row.kind) + b"".join(
            b" %08x" % word for word in words[:8])
    if row.kind == KIND.PANIC:
        return panic_message(row, site, log)
    args = arguments(site.types, words)
    if row.kind == ACT.DRIVER_LAUNCH:
        args = launched(args, log)
    return formatted(site.format, args, log, row.kind)


def told(text):
    """Bytes as text: each byte that is no part of a character is U+FFFD."""
    text = text.decode("utf-8", "surrogateescape")
    return re.sub("[\udc80-\udcff]", "\ufffd", text)


def activity_of(row):
    """The fields of an activity's struct, None where the row has none."""
    kind = ACTIVITY.get(row.kind)
    if kind is None or row.count < kind[3] or not kind[4]:
        return None
    words, at, fields = list(row.words) + [0] * kind[2], 0, {}
    for name, width in kind[4]:
        fields[name] = words[at] | (words[at + 1] << 32 if width == 2 else 0)
        at += width
    return fields


KERNELS = (ACT.KERNEL, ACT.NODE, ACT.DEVICE_NODE)
GRAPHS = (ACT.GRAPH, ACT.DEVICE_GRAPH)
SPANS = (*KERNELS, ACT.COPY, ACT.FILL, *GRAPHS, ACT.WAIT, ACT.CALL, ACT.MANAGED, ACT.OVERHEAD)
BACK_ENDS = {SECTION.CUDA: "cuda", SECTION.CPU: "cpu", SECTION.HOST: "host"}


def where_activity(row, act, log):
    """device, back_end, thread of activity."""
    device = row.block if row.block != NOBODY else None
    if row.kind == ACT.LAUNCH:
        kinds = {s["kind"] for s in log.sections if s["device"] == row.block}
        kinds &= {SECTION.CUDA, SECTION.CPU}
        return {"device": device, "back_end": BACK_ENDS[kinds.pop()] if len(kinds) == 1 else None}
    if row.kind in (ACT.RANGE, ACT.COLLECTOR):
        device = None
    if row.kind in (ACT.WAIT, ACT.CALL, ACT.OVERHEAD) and act:
        device = None
    thread = act["thread"] if act and row.kind in (ACT.CALL, ACT.RANGE) else 0
    return {"device": device, "back_end": "cuda", "thread": thread or None}


def where(row, lanes, act, log):
    if 64 <= row.kind <= 127:
        return where_activity(row, act, log)
    section = log.sections[row.section] if row.section < len(log.sections) else None
    kind = section["kind"] if section else None
    out = {"back_end": BACK_ENDS.get(kind)}
    if row.kind == KIND.OBJECT:
        return {**out, "device": row.block if row.block != NOBODY else None}
    if kind in (SECTION.CUDA, SECTION.CPU):
        out["device"] = section["device"]
    of_host = kind == SECTION.HOST or section is None and row.form == FORM.THREAD
    if row.kind == KIND.LOSS:
        if not of_host and row.count >= 4 and row.words[3] != NOBODY:
            out.update(sm=row.sm, slot=row.slot)
    elif of_host:
        out["thread"] = row.block or None
    else:
        out.update(sm=row.sm, slot=row.slot, block=row.block, warp=row.warp, lanes=lanes)
    return out


def span(row, act, log):
    """dur_ns to name of activity, whose fields are given."""
    out = {}
    if row.kind in SPANS and "ns" in act and act["ns"] != ALL64:
        out["dur_ns"] = act["ns"]
    on_stream = (*KERNELS, ACT.COPY, ACT.FILL, *(GRAPHS if row.block != NOBODY else ()))
    if row.kind in on_stream:
        out.update(context=act["context"], stream=act["stream"])
    if row.kind in SPANS:
        out["call"] = act.get("correlation") or None
    if row.kind in (*GRAPHS, ACT.NODE, ACT.DEVICE_NODE):
        node = act.get("node", 0)
        out["graph"] = act["graph"] if act["graph"] or node else None
        out["node"] = node or None
    if row.kind in (ACT.COPY, ACT.FILL, ACT.MANAGED):
        out["bytes"] = act["bytes"]
    if row.kind in GRAPHS:
        nodes = act["nodes"]
        out["name"] = f"graph {act['graph']}" + (
            f" ({nodes} node{'s' if nodes != 1 else ''})" if nodes else "")
    elif row.kind in (*SPANS, ACT.RANGE) and log.string(act.get("name", 0)) is not None:
        out["name"] = told(log.string(act["name"]))
    return out


def kind_word(kind):
    if 64 <= kind <= 127:
        return ACTIVITY[kind][1] if kind in ACTIVITY else "other"
    if kind in (KIND.PANIC, KIND.FAULT, KIND.HANG):
        return "panic"
    return {KIND.LOSS: "loss", KIND.LIFE: "life", KIND.OBJECT: "object", KIND.TASK: "task"}.get(kind, "log")


FIELDS = """ts_ns dur_ns level pid device back_end context stream thread sm slot block warp lanes
            call graph node launched bytes name file line kind msg class id ended fields""".split()


def record(row, words, lanes, log):
    act = activity_of(row)
    out = where(row, lanes, act, log)
    out.update(ts_ns=row.time_ns, level=LEVEL_WORDS.get(row.level, "?"),
               pid=log.pid(row) or None, kind=kind_word(row.kind))
    if act:
        out.update(span(row, act, log))
    if row.kind == KIND.TASK and 4 * row.count >= TASK_BYTES:
        task = read_task(struct.pack(f"<{row.count}I", *row.words))
        out["dur_ns"] = task["ns"]
        if log.string(task["name"]) is not None:
            out["name"] = told(log.string(task["name"]))
    if act and row.kind in (ACT.DEVICE_NODE, ACT.DEVICE_GRAPH):
        out["launched"] = "device"
    site = log.defs.get(row.site)
    if site and site.file:
        out.update(file=told(site.file), line=site.line)
    out["msg"] = told(message(row, words, log))
    found = object_of(row, log) if row.kind == KIND.OBJECT else None
    if found:
        out.update({"class": found.class_.name, "id": found.number, "ended": found.ended,
                    "fields": found.fields(log, told)})
    return {field: out[field] for field in FIELDS if out.get(field) is not None}


def records_of(row, log):
    """The records of a row: one, or one a lane."""
    if not row.by_lane():
        yield record(row, row.words, row.mask, log)
        return
    lanes = row.lanes()
    for rank, lane in enumerate(lanes):
        yield record(row, row.words[rank::len(lanes)], 1 << lane, log)


def records(log):
    for row in log.rows():
        yield from records_of(row, log)


def main(paths):
    faults = []
    for path in paths:
        log = Log(path)
        for line in records(log):
            print(json.dumps(line, separators=(",", ":")))
        faults += [f"{path}: {fault}" for fault in log.faults]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
