# SPDX-License-Identifier: Apache-2.0
"""Logs that no program of today writes: every number of each table of docs/LOG_FORMAT.md, values at
their bounds, and rows at random, which lack words or have too many. Made from that page, as the
reader is, in frames without a sum; each other frame is packed."""
import ctypes
import random
import struct

from log_page import *

SECTIONS = ((SECTION.CUDA, 0), (SECTION.CPU, 0), (SECTION.HOST, 0), (SECTION.CUDA, 3),
            (SECTION.CPU, 4), (SECTION.NONE, 5), (9, 6))
TEXTS = (b"i < n", b"", b"a\0b", b"_Z3fooiPf", b"_ZN2ns3barEv", b"no C++ name", b"caf\xc3\xa9 %d")
SIZES = (0, 1, 2, 4)  # bytes of a difference, by its width
OWN_LANES = (FORM.LANES, FORM.LANES_PART)


def zstd(data):
    room = ctypes.create_string_buffer(len(data) + 4096)
    return room[:ZSTD.ZSTD_compress(room, len(room), data, len(data), 1)]


def pack(struct_name, /, **fields):
    """A struct of the page; fields that are not told are 0."""
    out = b""
    for _, size, field, *_ in page.tables["struct " + struct_name]:
        value = fields.pop(field, 0)
        out += value.ljust(int(size), b"\0") if isinstance(value, bytes) else value.to_bytes(
            int(size), "little")
    assert not fields, fields
    return out


def block(type_, body, flags=0):
    body += bytes(-len(body) % 8)

    def head(crc):
        return pack("gplog_block_t", magic=MAGIC, size=16 + len(body), tag=TAG, type=type_,
                    version=1, crc=crc, flags=flags)
    return head(crc32c(head(0)[8:] + body)) + body


def file_block(sections=SECTIONS, pid=77, flags=0):
    told = b"".join(pack("gplog_section_t", kind=kind, device=device, name=b"device")
                    for kind, device in sections)
    return block(BLOCK.FILE, pack(
        "gplog_file_t", section_count=len(sections), sections=told,
        identity=pack("gpurt_box_identity_t", pid=pid, program=b"made")), flags)


def blob(data, kind):
    packed = zstd(data)
    number = crc32c(data) | len(data) << 32
    return number, block(BLOCK.BLOB, pack("gplog_blob_t", id=number, raw_bytes=len(data),
                                          packed_bytes=len(packed), kind=kind) + packed)


def row_bytes(words=(), **fields):
    out = pack("gpurt_row_t", words=len(words), **fields)
    out += struct.pack(f"<{len(words)}I", *words)
    return out + bytes(-len(out) % 8)


def signed(value, bits):
    value &= (1 << bits) - 1
    return value - (value >> bits - 1 << bits)


def width_of(difference):
    return next(w for w in range(4) if -(1 << 8 * SIZES[w]) // 2 <= difference <
                max(1 << 8 * SIZES[w], 2) // 2)


class Packer:
    """Rows as differences. Which slot a row takes, and whether widths are the least, is chance."""

    def __init__(self, rng):
        self.rng, self.before = rng, 0
        self.slots = [([0] * 32, [0] * 32) for _ in range(254)]
        self.ops, self.times, self.values = bytearray(), bytearray(), bytearray()

    def add(self, row):
        words = struct.unpack(f"<{len(row) // 4}I", row)
        time = words[0] | words[1] << 32
        if len(words) > 32 or self.rng.random() < 0.1:
            self.ops.append(255)
            self.values += row
        else:
            self.differ(words, signed(time - self.before, 64))
        self.before = time

    def differ(self, words, step):
        number = self.rng.randrange(self.rng.choice((2, 20, 254)))
        old, widths = self.slots[number]
        differences = [signed(step, 32), signed(step - signed(step, 32) >> 32, 32)]
        differences += [signed(new - was, 32) for new, was in zip(words[2:], old[2:])]
        least = [width_of(difference) for difference in differences]
        if any(need > width for need, width in zip(least, widths)) or self.rng.random() < 0.2:
            widths[:] = [max(need, self.rng.choice((0, 0, 0, 3)))
                         for need in least] + self.rng.choices(range(4), k=32 - len(least))
            self.ops.append(254)
            self.ops += sum(width << 2 * i for i, width in enumerate(widths)).to_bytes(8, "little")
        self.ops.append(number)
        for i, difference in enumerate(differences):
            to = self.times if i < 2 else self.values
            to += difference.to_bytes(SIZES[widths[i]], "little", signed=True)
        old[:len(words)] = words

    def packed(self):
        return struct.pack("<2I", len(self.ops), len(self.times)) + self.ops + self.times + self.values


def frame(number, rows, rng=None):
    """A frame of rows as they are; with random numbers, as differences."""
    raw = told = b"".join(rows)
    if rng:
        packer = Packer(rng)
        for row in rows:
            packer.add(row)
        told = packer.packed()
    packed = zstd(told)
    return block(BLOCK.FRAME, pack(
        "gplog_frame_t", number=number, rows=len(rows), raw_bytes=len(raw),
        encoding=ENCODING.PACKED if rng else ENCODING.ROWS, packed_bytes=len(packed),
        packed_crc=crc32c(packed))) + packed


def definition(number, kind, text, types=(), file=b"", **fields):
    bits = fields.pop("bits", sum(type_ << 4 * i for i, type_ in enumerate(types)))
    size = DEF_BYTES + len(text) + len(file)
    fields = {"record_kind": KIND.LOG, "arg_count": len(types), **fields}
    return pack("gplog_def_t", bytes=size + -size % 8, id=number, kind=kind, types=bits,
                format_bytes=len(text), file_bytes=len(file), **fields
                ) + text + file + bytes(-size % 8)


class Maker:
    """Rows and the definitions that they need."""

    def __init__(self, seed, processes):
        self.random = random.Random(seed)
        self.time, self.site = 10 ** 18, 100
        self.defs = [definition(i + 1, DEF.STRING, text) for i, text in enumerate(TEXTS)]
        for i, number in enumerate((0, 1, 1, NO_PROGRAM) if processes else ()):
            self.defs.append(definition(50 + i, DEF.STRING, b"process", line=1000 + i,
                                        record_kind=KIND.LIFE, bits=number << 48 | 9))
        self.frames, self.rows, self.blobs = 0, [], []

    def row(self, words=(), **fields):
        self.time += fields.pop("later", 1)
        fields = {"mask": 1, "kind": KIND.LOG, "form": FORM.LANE, "level": 3, **fields}
        self.rows.append(row_bytes(words, time_ns=self.time, **fields))

    def say(self, text, types, words, kind=KIND.LOG, file=b"", line=0, **fields):
        """A row, and a site for it alone."""
        self.site += 1
        self.defs.append(definition(self.site, DEF.SITE, text, types, file, line=line,
                                    record_kind=kind))
        self.row(words, site=self.site, kind=kind, **fields)

    def write(self, path, pid, frame_rows):
        out = [file_block(pid=pid, flags=FLAG.HELD), block(BLOCK.DICT, b"".join(self.defs))]
        out += self.blobs
        for at in range(0, len(self.rows), frame_rows):
            out.append(frame(self.frames, self.rows[at:at + frame_rows],
                             self.random if self.frames % 2 else None))
            self.frames += 1
        with open(path, "wb") as file:
            file.write(b"".join(out))


# ---------------------------------------------------------------- what is in it
BOUNDS = (0, 1, 7, 65, 0xFFFFFF41, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x40490FDB)
FORMATS = (b"%d|%5d|%-5i|%05d|%+d|% d|%u|%o|%#o|%x|%#X|%08.3d|%.0d|%p|%20p|%c|%5c",
           b"%s|%9s|%-9s|%09s|%.2s|%.s|%300d|%.300d|%hhd|%lld|%zu|%jd|%td|%hd|%ld|%Lf|%300s",
           b"%f|%5.1f|%a|%A|%G|%g|%e|%E|%F|%+010.2e|%#g|%.0f|%-12.3f|% f|%d|%s|%x")
ODD_FORMATS = (b"%", b"%% %y %5 %-", b"%*d %.*d", b"a\0b %d", b"", b"%llllld|%hlLzjtd", b"%1$d",
               b"%n", b"%5%", b"%.-3d", b"x" * 4090 + b"%s tail",
               b"\xff\xc3\xa9 \xc3 \xe2\x82 \xed\xa0\x80 \xf4\x90\x80\x80 \xc0\x80 \xe2\x80\xae"
               b" \x1b \x7f \xc2\x9b \xe2\x80\x8b \xef\xbb\xbf \"q\" \\ \t\n\r\x08")


def messages(m):
    """Each type with each conversion, at the bounds of values; formats that are none."""
    for type_ in range(16):
        for text in FORMATS:
            for value in (*range(1, 8), *BOUNDS) if type_ == TYPE.STRING else BOUNDS:
                high = m.random.choice(BOUNDS)
                words = [value, high] * 17 if TYPE_WORDS.get(type_) == 2 else [value] * 17
                m.say(text, [type_] * 16, words, file=b"dir/a.c", line=type_)
    for text in ODD_FORMATS:
        m.say(text, [TYPE.I32, TYPE.U32], [7, 8])
        m.say(text, [TYPE.STRING, TYPE.I64], [1, 7])
    for kind in (KIND.LOG, ACT.KERNEL, ACT.POOL, 90, 127, 128):
        wide = [TYPE.U64, TYPE.I64, TYPE.PTR] * 2
        for high in (0xFFFFFFFF, 0x7FFFFFFF):
            m.say(b"%llu|%d|%p|%x|%30u|%c", wide, [0xFFFFFFFF, high] * 6, kind=kind)


def rows_of_kinds(m):
    """Each kind with the words that it has, those of older files, and fewer; on devices that are
    known, are not, and are not in the file."""
    for kind in range(256):
        counts = {0, 2, 20} | ({TASK_BYTES // 4 - 1, TASK_BYTES // 4} if kind == KIND.TASK else set())
        if kind in ACTIVITY:
            most, least = ACTIVITY[kind][2:4]
            counts |= {most, least, max(least - 1, 0)}
        for count in sorted(counts):
            for value, block_ in ((3, 1), (1, NOBODY), (0, 0), (0xFFFFFFFF, 3)):
                m.row([value] * count, kind=kind, block=block_, level=kind % 9)
        m.say(b"%d %s", [TYPE.I32, TYPE.STRING], [5, 1], kind=kind, file=b"k.c", line=kind)


def rows_of_places(m):
    """Each form in each section, also in those that the file lacks; levels, processes, lanes."""
    for section in (*range(9), 255):
        for form in range(9):
            for kind in (KIND.LOG, KIND.LOSS):
                m.row([1, 2, 3, 4], section=section, form=form, kind=kind, block=section, mask=3,
                      sm=3, slot=4, warp=5, program=form % 4)
    for level in range(10):
        m.row(level=level, program=(0, 1, 2, 254, 255)[level % 5])
    for mask in (0, 1, 0x80000001, 0x0F0F, 0xFFFFFFFF):
        for form in OWN_LANES:
            m.row(range(70), form=form, mask=mask)
            m.say(b"lane %d of %s, %f", [TYPE.I32, TYPE.STRING, TYPE.F64],
                  list(range(4 * bin(mask).count("1"))), form=form, mask=mask)
    m.row(range(1024)), m.row(range(25)), m.row(range(24))


def rows_without_a_format(m):
    for reason in range(13):
        m.row([reason, reason + 100, reason % 2, 3], kind=KIND.LOSS, level=7)
        m.row([reason, 5, 0, NOBODY][:reason % 5], kind=KIND.LOSS, level=7)
    for words in ([5, 0x64636261, 0x68676665], [50, 0x64636261], [], [3], [4, 0x64006261]):
        m.row(words, kind=KIND.TEXT)
        m.row(words * 2, kind=KIND.TEXT, form=FORM.LANES_PART, mask=0x11)
    for words in ([1, 55], [1, 0], [1, 55, 1, 0, 0x3FF00000, 9], [1], []):
        m.row(words, kind=KIND.LIFE, program=NO_PROGRAM, section=8)
    m.say(b"life %d: process %d, %s after %.3f s (%x)", [
        TYPE.U32, TYPE.U32, TYPE.STRING, TYPE.F64, TYPE.U32], [2, 66, 6, 0, 0x3FF80000, 256],
        kind=KIND.LIFE, program=NO_PROGRAM, section=8)


def failure_head(m, mask):
    """Words 2 and 3 of a PANIC."""
    return [*range(1, 8), mask, 5, 6] + [m.random.choice(BOUNDS)
                                         for _ in range(2 * bin(mask).count("1"))]


def part(kind, words):
    return [kind << 24 | len(words), *words]


def parts(m, category, own, condition):
    """One part of each kind, ABOUT among them."""
    about = [category | own << 16, *range(2, 13), condition, *range(14, 26)]
    out = [part(kind, [m.random.choice(BOUNDS) for _ in range(kind)])
           for kind in (*vars(PART).values(), 200) if kind not in (PART.ABOUT, PART.HELD)]
    out.append(part(PART.HELD, [word for kind in vars(HELD).values() for word in (kind, 1, 7, 0)]))
    out.append(part(PART.ABOUT, about[:m.random.choice((25, 25, 13, 12, 1, 0))]))
    m.random.shuffle(out)
    return out


def failures(m):
    pair = [TYPE.I32, TYPE.U64]
    types = (*vars(TYPE).values(), 12)
    for category in (*vars(CATEGORY).values(), 400):
        for own in (0, 1, 2, 20):
            for text in (b"", b"own %d of %s"):
                pair = [m.random.choice(types) for _ in range(m.random.choice((2, 4, 16)))]
                words = [m.random.choice((1, 2, 3, 77)) for type_ in pair
                         for _ in range(TYPE_WORDS.get(type_, 0))]
                words += failure_head(m, m.random.choice((0, 1, 0x80000001, 0xFFFFFFFF)))
                for one in parts(m, category, own, m.random.choice((0, 1, 1, 2, 3, 77))):
                    words += one
                if own == 1:
                    words = words[:m.random.randrange(len(words))]
                m.say(text, pair, words, kind=KIND.PANIC, level=6, file=b"p.cu", line=category,
                      form=own % 7)
    for kind, blob_kind, text in ((KIND.FAULT, 1, b"%u lanes of %u blocks"),
                                  (KIND.HANG, 2, b"deadlock of %u: %s")):
        number, made = blob(bytes([kind]) * 1000, blob_kind)
        m.blobs.append(made)
        m.say(text, [TYPE.U32, TYPE.STRING if kind == KIND.HANG else TYPE.U32],
              [3, 1, *range(7), 1, 0, 0, 14, 0x1000, 1, number & NOBODY, number >> 32], kind=kind,
              level=6, section=8 if kind == KIND.FAULT else 1)


# ---------------------------------------------------------------- objects
KETTLE = b"""kettle_of_tea kettles later words
on_stove reference words=stove parent
name text
other_name text trouble
capacity limit unit=l
litres gauge unit=l of=capacity later=word later
best peak unit=l
boils counter
leaks fault
state state words=cold,"warm",,b\\oiling
since time unit=ns
colour shade of=nothing count=0 unit=
waits histogram count=20 unit=ns
sizes matrix count=20 unit=B words=bytes,live,
map cells count=1027"""
LONG = b"n" * 31
CLASSES = (  # each is a class, or breaks a rule of one
    b"", b"\n", b"a", b"a\n", b"a b", b"a b\n\n", b" a  b \n  x  gauge  ", b"A b", b"a b-", b"a b\nx", b"a b\n gauge",
    b"a b\nx gauge\nx gauge", b"a b\nx shade\nx gauge", LONG + b" " + LONG, LONG + b"n b", b"a b" + b"n" * 31,
    b"a b\n" + LONG + b" gauge", b"a b\n" + LONG + b"n gauge", b"a b\nx " + b"k" * 300, b"a b\nx gauge " + b"k" * 127,
    b"a b\nx gauge " + b"k" * 128, b"a b\nx shade " + b"k" * 128, b"a b\0\nx gauge", b"a b\nx\0y gauge",
    b"a b\nx gauge\tunit=B", b"a b\nx gauge unit=\xc3\xa9", b"a b\nx gauge unit=1234567", b"a b\nx gauge unit=12345678",
    b"a b\nx gauge unit=", b"a b\nx gauge unit", b"a b\nx gauge unit=B unit=ns", b"a b\nx gauge unit=\"\\",
    b"a b\nx state words=" + b"w" * 63, b"a b\nx state words=" + b"w" * 64, b"a b\nx state words=", b"a b\nx state",
    b"a b\nx gauge of=y", b"a b\nx gauge of=x", b"a b\ny gauge\nx gauge of=y", b"a b\ny limit\nx gauge of=y",
    b"a b\ny limit\nx peak of=y", b"a b\ny limit\nx counter of=y",
    b"a b\nx gauge of=y\ny limit", b"a b\nx gauge count=1", b"a b\nx gauge count=2", b"a b\nx cells count=0",
    b"a b\nx cells count=-1", b"a b\nx cells count=+8", b"a b\nx cells count=-18446744073709551615",
    b"a b\nx cells count=00008", b"a b\nx cells count=000008", b"a b\nx cells count=8x", b"a b\nx cells count=",
    b"a b\nx cells count=4096", b"a b\nx cells count=4097", b"a b\nx histogram count=512", b"a b\nx histogram count=513",
    b"a b\nx histogram", b"a b\nx matrix", b"a b\nx matrix count=7 words=a,b,c", b"a b\nx matrix count=2 words=a,b,c",
    b"a b\nx matrix count=512 words=,", b"a b\nx matrix count=513", b"a b\nx matrix count=14\ny text", b"a b\nx cells\ny histogram count=511", b"a b\nx cells\ny histogram count=512",
    b"a b\nx histogram count=14\ny text", b"a b\nx histogram count=15\ny text", b"%d %s\nx gauge", b"a b\r\nx gauge\r",
    b"a b\n" + b"".join(b"f%d gauge\n" % i for i in range(48)), b"a b\n" + b"".join(b"f%d gauge\n" % i for i in range(49)),
    b"a b\n" + b"".join(b"f%d text\n" % i for i in range(15)), b"a b\n" + b"".join(b"f%d text\n" % i for i in range(16)))
VALUES = (0, 1, 2, 3, 4, 7, 54, 100, 0xFFFFFFFF, 1 << 32, 1 << 32 | 1, (1 << 63) - 1, ALL64, 0xFFFE7F0100000000)


class Objects:
    """Rows of objects. text: the definition of their class."""

    def __init__(self, m, text):
        self.maker, self.random = m, m.random
        m.site += 1
        self.site = m.site
        m.defs.append(definition(m.site, m.random.choice((DEF.SITE,) * 30 + (DEF.STRING,)), text, file=b"o.c",
                                 line=7, record_kind=KIND.OBJECT, level=3))

    def put(self, first, count, flags=0, words=None, number=1, **fields):
        """The row has so many words; as many as it needs, unless that is said."""
        pick, need = self.random.choice, 2 + 2 * count
        has = [number, first << 20 | count << 8 | flags]
        for _ in range(min(count, 500)):
            value = pick(VALUES) if self.random.random() < 0.7 else self.random.getrandbits(64)
            has += [value & NOBODY, value >> 32]
        has = (has + [5] * 40)[:need if words is None else words]
        self.maker.row(has, site=self.site, kind=KIND.OBJECT, **{
            "form": FORM.THREAD, "section": 2, "block": pick((0, 3, NOBODY)), **fields})


def rows_of_objects(m):
    """Classes that are sound and that are not; objects in one row and in several; rows that do not fit."""
    m.defs.append(definition(60, DEF.STRING, b"x" * 1023 + b"\xc3\xa9\"\x1b" * 2000))
    for text in (KETTLE, *CLASSES):
        for first, count in ((0, 0), (0, 1), (0, 16), (0, 48), (0, 49), (0, 511), (1, 1), (5, 500)):
            Objects(m, text).put(first, count if count < 500 else count, words=min(2 + 2 * count, 1024))
    kettles = Objects(m, KETTLE)
    whole = 11 + 20 + 20 + 129
    for step in (1, 7, 100, whole):
        for first in range(0, whole, step):
            kettles.put(first, min(step, whole - first), flags=first // step % 2 * ENDED, number=step)
    for first, count in ((0, whole + 1), (whole, 1), (whole, 0), (whole + 1, 0), (4095, 4095), (4095, 1), (0, 4095)):
        kettles.put(first, count, words=2 + 2 * min(count, 400))
    for words in (0, 1, 2, 3, 5, 6, 40):
        kettles.put(0, 2, words=words, flags=0xFE)
    for form in range(8):
        kettles.put(0, 5, form=form, mask=0x11, section=form)
    for site in (0, 1, 9, 99999):
        kettles.site = site
        kettles.put(0, 1)
    longest = Objects(m, b"a b\n" + b"".join(b"t%d text\n" % i for i in range(15)) + b"c cells count=3976")
    m.row([1, 15 << 8, *[60, 0] * 15], site=longest.site, kind=KIND.OBJECT)
    m.row([1, 500 << 8, *[60, 0] * 15, *[NOBODY] * 970], site=longest.site, kind=KIND.OBJECT)


def class_at_random(rng):
    """The text of a class, most often a sound one, and how many values it takes if it is."""
    out, values, limits = [f"{rng.choice(('arena', 'a_b', 'x1'))} plural"], 0, []
    for i in range(rng.choice((0, 1, 3, 10, 30, 48))):
        kind, count, line = rng.choice((*FIELD_KINDS, "shade")), 1, ""
        if kind in ("histogram", "cells", "matrix"):
            count = rng.choice((1, 2, 7, 8, 9, 17, 40))
            line += f" count={count}"
        if kind == "text" and values >= 15:
            kind = "gauge"
        if rng.random() < 0.3:
            line += rng.choice((" unit=B", " unit=ns", " unit=%", " later", " trouble", " parent", " x=y"))
        if kind in ("state", "matrix"):
            line += rng.choice((" words=a,b,c", " words=\"\\,,x", " words=,", ""))
        if limits and rng.random() < 0.3:
            line += f" of={rng.choice(limits)}"
        limits += [f"f_{i}"] * (kind == "limit")
        values += -(-count // 8) if kind == "cells" else count
        out.append(f"f_{i} {kind}{line}")
    text = "\n".join(out).encode() + b"\n" * rng.randrange(2)
    if rng.random() < 0.15:  # broken, perhaps
        at = rng.randrange(len(text))
        text = text[:at] + rng.choice((b"", b" ", b"\n", b"=", b"\0", b"9", b"\xff")) + text[at + rng.randrange(3):]
    return text, values


def objects_at_random(m, count):
    """So many rows, of classes at random."""
    pick, left = m.random.choice, count
    while left > 0:
        text, values = class_at_random(m.random)
        objects = Objects(m, text)
        for number in range(1, m.random.randrange(2, 12)):
            step, first = pick((1, 3, 20, 100)), 0
            while first < values and left > 0:
                objects.put(first, min(step, values - first), pick((0, 0, 0, ENDED, 255)), number=number,
                            program=pick((0, 1, 2, NO_PROGRAM)), later=pick((0, 1)), level=m.random.randrange(9))
                first, left = first + step, left - 1
            if m.random.random() < 0.1:
                objects.put(pick((0, values, m.random.randrange(4096))), pick((0, 1, m.random.randrange(4096))),
                            words=m.random.randrange(60), form=m.random.randrange(9))
            left -= 1


def rows_at_random(m, count):
    types = (*vars(TYPE).values(), TYPE.STRING, 11)
    kinds = (*vars(KIND).values(), *vars(ACT).values(), *vars(ACT).values())
    for _ in range(count):
        pick = m.random.choice
        has = [pick(types) for _ in range(pick((0, 1, 2, 3, 8)))]
        words = [pick((*BOUNDS, 2, 3, 4, 5)) for _ in range(pick((0, 3, 8, 16, 20, 24)))]
        form = pick(list(vars(FORM).values()))
        m.say(pick((b"%d %s %f %p %c", b"%s", b"%6.2f|%-8s|%#x")), has, words, kind=pick(kinds),
              form=form, level=m.random.randrange(9), mask=pick((0, 1, 0x80000001, NOBODY)),
              block=pick((0, 3, 4, NOBODY)), sm=pick((0, 9)), slot=2, warp=pick((0, 255)),
              section=pick((0, 0, 1, 2, 3, 4, 5, 6, 8, 255)), program=pick((0, 1, 2, NO_PROGRAM)),
              later=pick((0, 1, 5, 1 << 40)) - pick((0, 0, 3)), file=pick((b"", b"r.c")), line=9)


def make(path, seed=1, processes=True, frame_rows=3, rows=600, objects=400):
    m = Maker(seed, processes)
    for fill in (messages, rows_of_kinds, rows_of_places, rows_without_a_format, failures):
        fill(m)
    rows_of_objects(m)
    objects_at_random(m, objects)
    rows_at_random(m, rows)
    m.write(path, 77, frame_rows)
