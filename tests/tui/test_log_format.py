#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/LOG_FORMAT.md says what the headers say: each of its tables of a struct or of numbers has a mark with the
names of what it tells, and becomes static assertions for the C compiler here. A number of a header that a table
lacks is a fault, too. Arguments: the C compiler, the source folder."""
import os
import re
import subprocess
import sys
import tempfile

COMPILER, ROOT = sys.argv[1:3]
PAGE = os.path.join(ROOT, "docs", "LOG_FORMAT.md")
FOLDERS = [os.path.join(ROOT, folder) for folder in (
    "logstore/store", "runtime/box", "runtime/base", "runtime/include", "runtime/include/gpurt/impl")]


def tables():
    """(words of the mark, rows of cells) of each table that has a mark."""
    found = []
    lines = iter(open(PAGE, encoding="utf-8"))
    for line in lines:
        mark = re.fullmatch(r"<!-- (.*) -->", line.strip())
        if mark:
            next(lines), next(lines)
            rows = []
            for row in lines:
                if not row.startswith("|"):
                    break
                rows.append([cell.strip() for cell in row.strip().strip("|").split("|")])
            found.append((mark.group(1).split(), rows))
    return found


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


def check_whole(prefix, file, names, rows):
    if names:
        assert sorted(names) == sorted(row[1] for row in rows), (prefix, names, rows)
        return
    said = {int(row[0]) for row in rows}
    for name, value in re.findall(r"\b%s([A-Z0-9_]+)\s*=\s*(\d+)" % prefix, header(file)):
        assert int(value) in said, f"{prefix}{name} = {value} is not in the page"


def main():
    out = ["#include <stddef.h>", "#include \"format.h\"", "#include <gpurt/impl/activity.h>",
           "#include <gpurt/impl/box.h>", "#include <gpurt/impl/record.h>"]
    marks = 0
    for words, rows in tables():
        assert rows, words
        marks += 1
        if words[0] == "struct":
            out += struct_lines(words[1], rows)
        elif words[0] == "numbers":
            out += number_lines(words[1], rows)
            check_whole(words[1], words[2], words[3:], rows)
        else:
            out += number_lines("GPURT_KIND_", rows)
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
