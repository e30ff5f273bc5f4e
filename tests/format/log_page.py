# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/LOG_FORMAT.md, by the comment above each, and what a reader needs of other
pages: CRC-32C and zstd."""
import ctypes
import os
import re
import struct

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/LOG_FORMAT.md")
NOBODY, MIB, ALL64, NO_PROGRAM = 0xFFFFFFFF, 1 << 20, (1 << 64) - 1, 255


class Page:
    """The tables of the page, by the comment above each."""

    def __init__(self, path=PAGE):
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.tables = {}
        for mark, table in re.findall(r"<!-- (.*?) -->\n((?:\|.*\n)+)", text):
            lines = [[cell.strip() for cell in line.strip("|\n ").split(" | ")]
                     for line in table.splitlines()[2:]]
            self.tables.setdefault(mark, []).extend(lines)

    def struct(self, name):
        """A function from bytes and an offset to a dictionary, and the size."""
        code, fields, end = "<", [], 0
        for offset, size, field, *_ in self.tables["struct " + name]:
            assert int(offset) == end, f"{name}: a gap before {field}"
            end += int(size)
            code += {"1": "B", "2": "H", "4": "I", "8": "Q"}.get(size, size + "s")
            fields.append(field)
        layout = struct.Struct(code)
        return lambda data, at=0: dict(zip(fields, layout.unpack_from(data, at))), layout.size

    def numbers(self, mark, column=1):
        """From the number of a thing to a column of its row."""
        for title, table in self.tables.items():
            if title.startswith("numbers " + mark):
                return {int(row[0]): row[column] for row in table}
        raise KeyError(mark)

    def activity(self):
        """Per kind: name, word in JSON, words, least, and the fields with their widths."""
        kinds = {}
        for number, name, word, words, least, order in self.tables["activity"]:
            base = re.match(r"as (\w+)(?:, then|;|$)", order)
            fields = []
            if base:
                fields = list(next(k[4] for k in kinds.values() if k[0] == base[1]))
                order = order.partition("then ")[2]
            elif words == "0":
                order = ""
            fields += [(f, int(w or 1)) for f, w in re.findall(r"(\w+)(?::(\d))?", order)]
            assert sum(w for _, w in fields) == int(words), f"{name}: {fields}"
            kinds[int(number)] = (name, word, int(words), int(least), fields)
        return kinds


class Names:
    """Numbers by name: BLOCK.FILE is 1."""

    def __init__(self, table):
        self.__dict__.update({name: number for number, name in table.items()})


page = Page()
read_block, BLOCK_BYTES = page.struct("gplog_block_t")
read_file, FILE_BYTES = page.struct("gplog_file_t")
read_identity, _ = page.struct("gpurt_box_identity_t")
read_section, SECTION_BYTES = page.struct("gplog_section_t")
read_def, DEF_BYTES = page.struct("gplog_def_t")
read_frame, FRAME_BYTES = page.struct("gplog_frame_t")
read_index, INDEX_BYTES = page.struct("gplog_index_t")
read_entry, ENTRY_BYTES = page.struct("gplog_index_entry_t")
read_end, END_BYTES = page.struct("gplog_end_t")
read_blob, BLOB_BYTES = page.struct("gplog_blob_t")
read_row, ROW_BYTES = page.struct("gpurt_row_t")
read_task, TASK_BYTES = page.struct("gpurt_task_slice_t")
BLOCK = Names(page.numbers("GPLOG_ format.h FILE"))
LEAST_BYTES = {BLOCK.FILE: FILE_BYTES, BLOCK.FRAME: FRAME_BYTES, BLOCK.INDEX: INDEX_BYTES,
               BLOCK.END: END_BYTES, BLOCK.BLOB: BLOB_BYTES}
FLAG = Names(page.numbers("GPLOG_ format.h HELD"))
ENCODING = Names(page.numbers("GPLOG_ format.h ROWS"))
SECTION = Names(page.numbers("GPURT_SECTION_"))
DEF = Names(page.numbers("GPURT_DEF_"))
FORM = Names(page.numbers("GPURT_FORM_"))
KIND = Names(page.numbers("GPURT_KIND_"))
PART = Names(page.numbers("GPLOG_PART_"))
CATEGORY = Names(page.numbers("GPURT_CATEGORY_"))
FIELD = Names(page.numbers("GPURT_FIELD_"))
FIELD_KINDS = {words.strip("`"): n for n, words in page.numbers("GPURT_FIELD_", 2).items() if n}
CLASS = Names(page.numbers("GPURT_CLASS_"))
ENDED = Names(page.numbers("GPURT_OBJECT_")).ENDED
HELD = Names(page.numbers("GPURT_HELD_"))
TYPE = Names(page.numbers("GPURT_TYPE_"))
TYPE_WORDS = {n: int(words) for n, words in page.numbers("GPURT_TYPE_", 2).items()}
LEVEL_WORDS = page.numbers("GPURT_LEVEL_", 2)
LOSS_WORDS = page.numbers("GPURT_LOSS_", 2)
ACTIVITY = page.activity()
ACT = Names({n: kind[0] for n, kind in ACTIVITY.items()})
MAGIC, TAG = 0x184D2A57, 0x314C5047


def crc_table():
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ (0x82F63B78 if byte & 1 else 0)
        table.append(byte)
    return table


CRC = crc_table()


def crc32c(data):
    crc, table = NOBODY, CRC
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 255]
    return crc ^ NOBODY


def load_zstd():
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = (ctypes.c_char_p, ctypes.c_size_t) * 2
    zstd.ZSTD_compress.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = (ctypes.c_char_p, ctypes.c_size_t) * 2 + (ctypes.c_int,)
    zstd.ZSTD_isError.argtypes = (ctypes.c_size_t,)
    return zstd


ZSTD = load_zstd()
ROOM = ctypes.create_string_buffer(4 * MIB)


def unzstd(data, limit):
    """None: not a zstd frame of at most limit bytes."""
    room = ctypes.create_string_buffer(limit) if limit > 4 * MIB else ROOM
    count = ZSTD.ZSTD_decompress(room, limit, data, len(data))
    return None if ZSTD.ZSTD_isError(count) else room[:count]
