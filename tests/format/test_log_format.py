#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/LOG_FORMAT.md says what the headers say: each of its tables of a struct or of numbers has a mark with the
names of what it tells, and becomes static assertions for the C compiler here. A number of a header that a table
lacks is a fault, too. Texts and widths of the tables are judged by test_log_reader.py, which reads logs by them.
Arguments: the C compiler, the source folder."""
import os
import re
import subprocess
import sys
import tempfile

from log_page import page

COMPILER, ROOT = sys.argv[1:3]
FIRST_RANGE = 16  # kinds from here on go by ranges
FIRST_ACTIVITY = 64
FOLDERS = [os.path.join(ROOT, folder) for folder in (
    "logstore/store", "runtime/box", "runtime/base", "runtime/include", "runtime/include/gpurt/impl")]


def header(name):
    paths = [os.path.join(folder, name) for folder in FOLDERS]
    return open(next(path for path in paths if os.path.exists(path)), encoding="utf-8").read()


def struct_lines(name, rows):
    for offset, size, field in (row[:3] for row in rows):
        yield f"_Static_assert(offsetof({name}, {field}) == {offset}, \"{name}.{field} is elsewhere\");"
        yield f"_Static_assert(sizeof((({name} *)0)->{field}) == {size}, \"size of {name}.{field}\");"
    whole = int(rows[-1][0]) + int(rows[-1][1])
    yield f"_Static_assert(sizeof({name}) == {whole}, \"{name} has more fields\");"


def number_lines(prefix, rows):
    for number, name in (row[:2] for row in rows):
        yield f"_Static_assert({prefix}{name} == {number}, \"{prefix}{name} is no {number}\");"


def numbers_of(prefix, file):
    """Enumerators of a header; of kinds the lines of their table."""
    if file == "kinds.h":
        return re.findall(r"\bX\(([A-Z0-9_]+), (\d+), [A-Z]+,", header(file))
    return re.findall(r"\b%s([A-Z0-9_]+)\s*=\s*(\d+)" % prefix, header(file))


def check_whole(prefix, file, names, rows):
    """A table with names in its mark has these alone, and of kinds all that are below the first range."""
    said = {int(row[0]) for row in rows}
    if names:
        assert sorted(names) == sorted(row[1] for row in rows), (prefix, names, rows)
    for name, value in numbers_of(prefix, file):
        if not names or prefix == "GPURT_KIND_" and int(value) < FIRST_RANGE:
            assert int(value) in said, f"{prefix}{name} = {value} is not in the page"


def activity_lines(rows):
    """The numbers, and the structs that they have: each field's place and width."""
    yield from number_lines("GPURT_KIND_", rows)
    said = {int(row[0]) for row in rows}
    for name, value in numbers_of("GPURT_KIND_", "kinds.h"):
        assert FIRST_ACTIVITY > int(value) or int(value) in said, f"GPURT_KIND_{name} = {value} is not in the page"
    for name, _, words, _, fields in page.activity().values():
        base = re.search(r"as (\w+)", next(row[5] for row in rows if row[1] == name))
        if not fields or name == "DEVICE_NODE":  # a NODE
            continue
        struct = f"gpurt_activity_{name.lower()}_t"
        yield f"_Static_assert(sizeof({struct}) == {4 * int(words)}, \"{name} has other words\");"
        at = 0
        for field, width in fields:
            if not base or at >= 4 * page_words(rows, base[1]):
                yield f"_Static_assert(offsetof({struct}, {field}) == {at}, \"{name}.{field} is elsewhere\");"
                yield f"_Static_assert(sizeof((({struct} *)0)->{field}) == {4 * width}, \"size of {name}.{field}\");"
            at += 4 * width


def page_words(rows, name):
    return next(int(row[3]) for row in rows if row[1] == name)


def least_lines(rows):
    """How many words the oldest files have: up to the first field that came later, if there is one."""
    table = header("hostring.c")
    grown = re.findall(r"\bGROWN\(\s*[A-Z_]+,\s*gpurt_activity_(\w+)_t,\s*(\w+)", table)
    grown = dict(grown + re.findall(r"offsetof\(gpurt_activity_(\w+)_t, (\w+)\) / 4", table))
    for _, name, _, words, least, _ in rows:
        field = grown.pop(name.lower(), None)
        assert field or words == least, f"{name}: all files have {words} words"
        if field:
            yield (f"_Static_assert(offsetof(gpurt_activity_{name.lower()}_t, {field}) == 4 * {least}, "
                   f"\"{name}: the oldest files have other words\");")
    assert not grown, grown


def main():
    out = ["#include <stddef.h>", "#include \"format.h\"", "#include <gpurt/impl/activity.h>",
           "#include <gpurt/impl/box.h>", "#include <gpurt/impl/objectclass.h>", "#include <gpurt/impl/record.h>",
           "#include <gpurt/impl/task/taskrow.h>"]
    for mark, rows in page.tables.items():
        words = mark.split()
        assert rows, words
        if words[0] == "struct":
            out += struct_lines(words[1], rows)
        elif words[0] == "numbers":
            out += number_lines(words[1], rows)
            check_whole(words[1], words[2], words[3:], rows)
        else:
            out += [*activity_lines(rows), *least_lines(rows)]
    marks = len(page.tables)
    assert marks >= 24, marks
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "page.c")
        with open(source, "w", encoding="utf-8") as file:
            file.write("\n".join(out) + "\n")
        done = subprocess.run([COMPILER, "-D_GNU_SOURCE", "-fsyntax-only", *("-I" + path for path in FOLDERS), source],
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
    print(f"{marks} tables, {sum(line.startswith('_Static') for line in out)} assertions: ok")


main()
