# SPDX-License-Identifier: Apache-2.0
"""Objects as docs/LOG_FORMAT.md tells of them ("Objects"): the definition of a class, and a row of one."""
import functools
import re

from log_page import *

NAME = re.compile(r"[a-z0-9_]{1,%d}" % (CLASS.NAME - 1))
TEXTS, WORD_BYTES, TEXT_BYTES = 15, 127, 1024
NUMBERS = (FIELD.GAUGE, FIELD.COUNTER, FIELD.LIMIT, FIELD.PEAK, FIELD.FAULT)
LISTS = (FIELD.HISTOGRAM, FIELD.CELLS, FIELD.MATRIX)


class NoClass(Exception):
    """The text defines none."""


def need(fits, why):
    if not fits:
        raise NoClass(why)


class Field:
    def __init__(self, words, class_):
        need(len(words) >= 2 and NAME.fullmatch(words[0]), "a field has a name and a kind")
        self.name, self.kind = words[0], FIELD_KINDS.get(words[1], FIELD.NONE)
        self.first, self.count, self.unit, self.words = class_.values, 1, "", ""
        need(self.name not in class_.kinds, "two of a name")
        for word in words[2:] if self.kind else ():
            self.take(word, class_)
        need(self.kind in LISTS or self.count == 1, "a count")
        need(self.kind != FIELD.TEXT or self.first < TEXTS, "a late text")
        self.values = {FIELD.HISTOGRAM: self.count, FIELD.MATRIX: self.count,
                       FIELD.CELLS: -(-self.count // 8)}.get(self.kind, 1)

    def take(self, word, class_):
        key, is_, value = word.partition("=")
        need(len(word) <= WORD_BYTES, "a long word")
        if is_ and key == "count":
            need(re.fullmatch(r"[0-9]{1,5}", value), "a count")
            self.count = int(value)
            need(1 <= self.count <= 8 * CLASS.VALUES, "a count")
        elif is_ and key in ("unit", "words"):
            need(0 < len(value) < {"unit": CLASS.UNIT, "words": CLASS.WORDS}[key], key)
            setattr(self, key, value)
        elif is_ and key == "of":
            need(self.kind in (FIELD.GAUGE, FIELD.PEAK), "a limit of another kind")
            need(class_.kinds.get(value) == FIELD.LIMIT, "no such limit")


class Class:
    def __init__(self, text):
        need(re.fullmatch(rb"[\n -~]+", text), "other bytes")
        lines = text.decode().removesuffix("\n").split("\n")
        lines = [[word for word in line.split(" ") if word] for line in lines]
        need(len(lines[0]) >= 2 and all(map(NAME.fullmatch, lines[0][:2])), "a name and a plural")
        self.name, self.fields, self.kinds, self.values = lines[0][0], [], {}, 0
        for words in lines[1:]:
            field = Field(words, self)
            self.fields.append(field)
            self.kinds[field.name] = field.kind
            self.values += field.values
        need(len(self.fields) <= CLASS.FIELDS and self.values <= CLASS.VALUES, "more than fits")


@functools.lru_cache(1024)
def class_of(text):
    """None: the text defines no class."""
    try:
        return Class(text)
    except NoClass:
        return None


class Object:
    """A row that fits its class."""

    def __init__(self, row, class_):
        self.class_, self.number = class_, row.words[0]
        first, count = row.words[1] >> 20, row.words[1] >> 8 & 0xFFF
        self.ended = bool(row.words[1] & ENDED)
        self.fits = 2 + 2 * count <= row.count and first + count <= class_.values
        words = row.words[2:2 + 2 * count]
        self.values = [None] * first + [a | b << 32 for a, b in zip(words[::2], words[1::2])]
        self.values += [None] * (class_.values - len(self.values))

    def shown(self):
        """The fields that have a value in the row, and their values."""
        for field in self.class_.fields:
            values = self.values[field.first:field.first + field.values]
            if field.kind and any(value is not None for value in values):
                yield field, values

    def message(self, log):
        parts = [f"{field.name.replace('_', ' ')} ".encode() + printed(field, values, log)
                 for field, values in self.shown()]
        parts += [b"ended"] * self.ended
        head = f"{self.class_.name.replace('_', ' ')} {self.number}".encode()
        return head + (b": " if parts else b"") + b", ".join(parts)

    def fields(self, log, told):
        return {field.name: as_json(field, values, log, told) for field, values in self.shown()}


def state(field, value):
    words = field.words.split(",")
    return value < len(words) and words[value] or "?"


def counted(count, what):
    return f"{count} {what}{'' if count == 1 else 's'}".encode()


def printed(field, values, log):
    value = values[0]
    if field.kind in NUMBERS and value == ALL64:
        return b"-"
    if field.kind == FIELD.STATE:
        return state(field, value).encode()
    if field.kind == FIELD.TEXT:
        if value == 0 or value > NOBODY:
            return b"-"
        text = log.string(value)
        return b"<string %d>" % value if text is None else text
    if field.kind == FIELD.HISTOGRAM:
        return b"%s of %d" % (counted(field.count, "bucket"), sum(v or 0 for v in values) & ALL64)
    if field.kind == FIELD.CELLS:
        return counted(field.count, "cell")
    if field.kind == FIELD.MATRIX:
        return counted(field.count // len(field.words.split(",")), "row")
    return b"%d" % value + (f" {field.unit}" if field.unit else "").encode()


def as_json(field, values, log, told):
    value = values[0]
    if field.kind in (FIELD.HISTOGRAM, FIELD.MATRIX):
        return values
    if field.kind == FIELD.CELLS:
        return [None if values[i // 8] is None else values[i // 8] >> i % 8 * 8 & 255
                for i in range(field.count)]
    if field.kind in NUMBERS and value == ALL64:
        return None
    if field.kind == FIELD.STATE:
        return state(field, value)
    if field.kind == FIELD.TEXT:
        text = log.string(value)
        return None if text is None else told(text[:TEXT_BYTES])
    return value


def object_of(row, log):
    """None: the row does not fit its class, or has none."""
    site = log.defs.get(row.site)
    class_ = class_of(site.format) if site and site.kind == DEF.SITE and row.count >= 2 else None
    found = Object(row, class_) if class_ else None
    return found if found and found.fits else None
