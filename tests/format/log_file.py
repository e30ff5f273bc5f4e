# SPDX-License-Identifier: Apache-2.0
"""A log file as docs/LOG_FORMAT.md tells of it: blocks, rows, definitions, and what is wrong."""
import heapq
import struct

from log_page import *


class Taker:
    """Takes what lies one after another; IndexError beyond the end."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, count):
        self.at += count
        if self.at > len(self.data):
            raise IndexError("used up")
        return self.data[self.at - count:self.at]

    def difference(self, width):
        return int.from_bytes(self.take((0, 1, 2, 4)[width]), "little", signed=True)

    def used_up(self):
        return self.at == len(self.data)


def row_of_slot(slot, times, values, before):
    """The row's words, as differences to the slot's."""
    words, widths = slot
    time = before + times.difference(widths & 3)
    time = time + (times.difference(widths >> 2 & 3) << 32) & ALL64
    words[0], words[1] = time & NOBODY, time >> 32
    length, i = 8, 2
    while i < length:
        width = widths >> 2 * i & 3
        if width:
            words[i] = words[i] + values.difference(width) & NOBODY
        i += 1
        if i == 8:
            count = words[7] >> 16
            length = 8 + count + (count & 1)
            if length > 32:
                raise IndexError("a slot has 32 words")
    return time, words[:length]


def unpack_rows(data, raw_bytes):
    """Encoding 1: the rows' bytes, or IndexError."""
    head = Taker(data)
    ops_bytes, times_bytes = struct.unpack("<2I", head.take(8))
    ops, times = Taker(head.take(ops_bytes)), Taker(head.take(times_bytes))
    values = Taker(data[head.at:])
    slots, out, before, size = {}, [], 0, 0
    while not ops.used_up():
        op = ops.take(1)[0]
        if op == 255:
            row = values.take(ROW_BYTES)
            count = read_row(row)["words"]
            row += values.take(4 * (count + (count & 1)))
            before = read_row(row)["time_ns"]
        else:
            if op == 254:
                widths, op = int.from_bytes(ops.take(8), "little"), ops.take(1)[0]
                if op > 253:
                    raise IndexError("no such slot")
                slots[op] = (slots[op][0] if op in slots else [0] * 32, widths)
            slot = slots.setdefault(op, ([0] * 32, 0))
            before, words = row_of_slot(slot, times, values, before)
            row = struct.pack(f"<{len(words)}I", *words)
        out.append(row)
        size += len(row)
        if size > raw_bytes:
            raise IndexError("more rows than raw_bytes")
    if not times.used_up() or not values.used_up():
        raise IndexError("times or values are left")
    return b"".join(out)


class Row:
    """One row: the fields of its head as attributes, and its words."""

    def __init__(self, data, at):
        self.__dict__.update(read_row(data, at))
        self.count = self.words
        self.size = ROW_BYTES + 4 * (self.count + (self.count & 1))
        if self.count > 1024 or at + self.size > len(data):
            raise IndexError("a row beyond its frame")
        self.words = struct.unpack_from(f"<{self.count}I", data, at + ROW_BYTES)

    def by_lane(self):
        return self.form in (FORM.LANES, FORM.LANES_PART) and self.kind != KIND.LOSS

    def lanes(self):
        return [lane for lane in range(32) if self.mask >> lane & 1]

    def lost(self):
        if self.kind != KIND.LOSS or self.count < 3:
            return 0
        return self.words[1] | self.words[2] << 32

    def messages(self):
        if self.kind == KIND.LOSS:
            return 0
        return len(self.lanes()) if self.by_lane() else 1


def rows_of(frame, packed):
    """The rows of a frame, or IndexError where it is damaged."""
    if crc32c(packed) != frame["packed_crc"]:
        raise IndexError("the checksum does not fit")
    if frame["encoding"] not in vars(ENCODING).values():
        raise IndexError("the encoding is not known")
    if frame["raw_bytes"] > 4 * MIB or frame["rows"] == 0:
        raise IndexError("no rows, or too many")
    data = unzstd(packed, 4 * MIB)
    if data is not None and frame["encoding"] == ENCODING.PACKED:
        data = unpack_rows(data, frame["raw_bytes"])
    if data is None or len(data) != frame["raw_bytes"]:
        raise IndexError("it does not unpack")
    rows, at = [], 0
    while at < len(data):
        rows.append(Row(data, at) if at + ROW_BYTES <= len(data) else None)
        if rows[-1] is None:
            raise IndexError("half a row")
        at += rows[-1].size
    if len(rows) != frame["rows"]:
        raise IndexError("another number of rows")
    return rows


class Definition:
    def __init__(self, entry, texts):
        self.__dict__.update(entry)
        at = self.format_bytes + self.file_bytes
        self.format, self.file = texts[:self.format_bytes], texts[self.format_bytes:at]


def definitions(body):
    """The sound entries of a DICT, from the first on."""
    at = 0
    while at + DEF_BYTES <= len(body):
        entry = read_def(body, at)
        size = entry["bytes"]
        texts = entry["format_bytes"] + entry["file_bytes"] + entry["module_bytes"]
        if at + size > len(body) or DEF_BYTES + texts > size or size % 8:
            return
        if not 1 <= entry["id"] <= 1048575 or entry["kind"] not in (DEF.SITE, DEF.STRING):
            return
        if entry["level"] not in LEVEL_WORDS or entry["arg_count"] > 16:
            return
        yield Definition(entry, body[at + DEF_BYTES:at + DEF_BYTES + texts])
        at += size


class Frame:
    def __init__(self, at, head, packed):
        self.__dict__.update(head)
        self.at, self.end, self.packed, self.bad = at, 0, packed, None
        try:
            self.content = rows_of(head, packed)
        except IndexError as why:
            self.content, self.bad = [], str(why)

    def wrong_sums(self):
        """What the block says of its rows and is not so: {field: (said, true)}."""
        rows, levels, sections, sites = self.content, 0, 0, 0
        for row in rows:
            levels |= 1 << row.level % 32
            sections |= 1 << row.section % 32
            sites |= 1 << row.site % 256
        true = {"first_ns": min(row.time_ns for row in rows),
                "last_ns": max(row.time_ns for row in rows),
                "messages": sum(row.messages() for row in rows),
                "lost": sum(row.lost() for row in rows),
                "panics": sum(row.kind in (KIND.PANIC, KIND.FAULT, KIND.HANG) for row in rows),
                "levels": levels, "sections": sections, "sites": sites.to_bytes(32, "little")}
        return {k: (vars(self)[k], v) for k, v in true.items() if vars(self)[k] != v}


class Log:
    """A log file, all of it."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.defs, self.sections, self.identity, self.processes = {}, [], None, {}
        self.frames, self.faults, self.blobs, self.blocks = [], [], {}, []
        self.next = 0
        self.walk()

    def sound(self, at):
        """The head of the sound block at an offset, or None."""
        if at + BLOCK_BYTES > len(self.data):
            return None
        head = read_block(self.data, at)
        size = head["size"] - 16
        if head["magic"] != MAGIC or head["tag"] != TAG or size < 0 or size % 8:
            return None
        end = at + BLOCK_BYTES + size
        if size > 64 * MIB or end > len(self.data):
            return None
        block = bytearray(self.data[at + 8:end])
        block[8:12] = bytes(4)
        if crc32c(block) != head["crc"]:
            return None
        if head["type"] == BLOCK.FRAME:
            if size < FRAME_BYTES:
                return None
            if read_frame(self.data, at + BLOCK_BYTES)["packed_bytes"] > len(self.data) - end:
                return None
        return head

    def search(self, at):
        """The offset of the next sound block, or of the end of the file."""
        start = self.data[:0] + struct.pack("<I", MAGIC)
        while True:
            at = self.data.find(start, at)
            if at < 0:
                return len(self.data)
            if self.sound(at):
                return at
            at += 1

    def walk(self):
        at, behind = 0, 0
        while at < len(self.data):
            head = self.sound(at)
            if head is None:
                found = self.search(behind)
                self.faults.append(f"{found - at} stray bytes at {at}")
                at = found
                continue
            body = self.data[at + BLOCK_BYTES:at + 8 + head["size"]]
            behind = at + 8 + head["size"]
            self.blocks.append((at, head["type"]))
            at = self.block(at, head, body, behind)
        if not self.blocks:
            self.faults.append("it is no log")
        self.number_frames()

    def block(self, at, head, body, behind):
        """Takes a block in. Returns where the next one is."""
        if len(body) < LEAST_BYTES.get(head["type"], 0):
            pass
        elif head["type"] == BLOCK.FILE:
            self.take_file(body)
        elif head["type"] == BLOCK.DICT:
            for entry in definitions(body):
                self.define(entry)
        elif head["type"] == BLOCK.FRAME:
            fields = read_frame(body)
            end = behind + fields["packed_bytes"]
            self.frames.append(Frame(at, fields, self.data[behind:end]))
            return end
        elif head["type"] == BLOCK.BLOB:
            self.take_blob(body)
        elif head["type"] == BLOCK.INDEX:
            self.check_index(at, body)
        elif head["type"] == BLOCK.END:
            self.check_end(read_end(body), head["flags"])
        return behind

    def take_file(self, body):
        head = read_file(body)
        self.identity = read_identity(head["identity"])
        self.sections = [read_section(head["sections"], i * SECTION_BYTES)
                         for i in range(min(head["section_count"], 9))]

    def define(self, entry):
        if entry.id in self.defs:
            return
        self.defs[entry.id] = entry
        if entry.kind == DEF.STRING and entry.record_kind == KIND.LIFE:
            if entry.types >> 48 < NO_PROGRAM:
                self.processes.setdefault(entry.types >> 48, entry.line)

    def take_blob(self, body):
        head = read_blob(body)
        data = unzstd(body[BLOB_BYTES:BLOB_BYTES + head["packed_bytes"]], head["raw_bytes"])
        if data is None or head["id"] != crc32c(data) | len(data) << 32:
            self.faults.append("a BLOB does not unpack")
        self.blobs[head["id"]] = data

    def newest(self, kind):
        return next((at for at, type_ in reversed(self.blocks) if type_ == kind), 0)

    def check_index(self, at, body):
        """An INDEX names the frames since the one before it."""
        head = read_index(body)
        before = [a for a, type_ in self.blocks if type_ == BLOCK.INDEX][:-1]
        told = {"previous": before[-1] if before else 0, "dict": self.newest(BLOCK.DICT),
                "file": self.newest(BLOCK.FILE)}
        frames = [f for f in self.frames if f.at > told["previous"]]
        told["count"] = len(frames)
        if head != told:
            self.faults.append(f"INDEX at {at}: {head} is not {told}")
        for i, frame in enumerate(frames[:head["count"]]):
            entry = read_entry(body, INDEX_BYTES + i * ENTRY_BYTES)
            sites = 0
            for part in struct.unpack("<4Q", frame.sites):
                sites |= part
            wanted = {**{k: vars(frame)[k] for k in entry if k not in ("offset", "sites")},
                      "offset": frame.at, "sites": sites}
            if entry != wanted:
                self.faults.append(f"INDEX at {at}, frame {i}: {entry} is not {wanted}")

    def check_end(self, end, flags):
        frames = {}
        for frame in self.frames:
            frames.setdefault(frame.number, frame)
        self.next = max(self.next, end["frames"])
        told = {"index": self.newest(BLOCK.INDEX), "frames": max(frames, default=-1) + 1}
        if flags & FLAG.WHOLE:
            frames = list(frames.values())
            told.update({k: sum(vars(f)[k] for f in frames)
                         for k in ("messages", "lost", "panics")})
            told["first_ns"] = min((f.first_ns for f in frames), default=0)
            told["last_ns"] = max((f.last_ns for f in frames), default=0)
        wrong = {k: (end[k], told[k]) for k in told if end[k] != told[k]}
        if wrong:
            self.faults.append(f"END: {wrong}")

    def number_frames(self):
        """Frames in the order of their numbers; what is double, damaged or missing."""
        frames = {}
        for frame in self.frames:
            if frame.number in frames:
                self.faults.append(f"frame {frame.number} is double")
            elif frames and frame.number < max(frames):
                self.faults.append(f"frame {frame.number} is out of place")
            frames.setdefault(frame.number, frame)
            if frame.bad:
                self.faults.append(f"frame {frame.number} is damaged: {frame.bad}")
        missing = max(self.next, max(frames, default=-1) + 1) - len(frames)
        if missing:
            self.faults.append(f"{missing} frames are missing")
        self.frames = [frames[number] for number in sorted(frames) if not frames[number].bad]

    def string(self, number):
        """The text of a STRING, or None."""
        entry = self.defs.get(number)
        return entry.format if entry and entry.kind == DEF.STRING else None

    def pid(self, row):
        if row.kind == KIND.LIFE:
            return row.words[1] if row.count >= 2 else 0
        if not self.processes and row.program == 0 and self.identity:
            return self.identity["pid"]
        return self.processes.get(row.program, 0)

    def rows(self):
        """All rows, in order of time as far as 16 frames reach."""
        heap, waiting = [], iter(enumerate(self.frames))

        def more():
            for number, frame in waiting:
                rows = sorted(frame.content, key=lambda row: row.time_ns)
                heapq.heappush(heap, (rows[0].time_ns, number, 0, rows))
                return
        for _ in range(16):
            more()
        while heap:
            _, number, at, rows = heapq.heappop(heap)
            yield rows[at]
            if at + 1 < len(rows):
                heapq.heappush(heap, (rows[at + 1].time_ns, number, at + 1, rows))
            else:
                more()
