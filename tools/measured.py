#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/measured/README.md: a line for each figure of targets.tsv, from the rows of the benches beside it. Of the
figures that glance.tsv names it writes docs/COST.md.

    tools/measured.py           write the pages
    tools/measured.py --check   say whether they are current; a lint

A file of rows has blocks: comments, of which one names date and commit, then the rows of one run on one machine. Median
and range of a figure are over the blocks that have its case."""
import fnmatch
import os
import re
import statistics
import sys

FOLDER = "docs/measured"
PAGE = os.path.join(FOLDER, "README.md")
TARGETS = os.path.join(FOLDER, "targets.tsv")
GLANCE = os.path.join(FOLDER, "glance.tsv")
COST = "docs/COST.md"
SCALE = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}
NO_PEERS = ("-", "limit", "promised")
HEAD = """# Measured

Each line is a figure of [targets.tsv](targets.tsv), computed by `tools/measured.py` from the rows beside this page.
Do not edit it; `./dev lint words` fails when it is stale. Median and range are over the runs of a case, most of them on
different machines. The ratio is that of the median run to the peer measured in the same run: quote the ratio. *Part*
means that the target was reached in some runs. Files are named by device and bench; the comments in each name machine,
date and commit. [NOTES.md](NOTES.md) has the conditions of single figures, and results that are not rows;
[mutants.md](mutants.md) tells of the run of all mutants.

"""
COLUMNS = ("figure", "target", "reached", "median", "range", "runs", "peer", "ratio", "rows", "date", "commit")

COST_HEAD = """# What things cost

Each line is a figure of [measured](measured/README.md) with its rows. `tools/measured.py` writes this page from
[glance.tsv](measured/glance.tsv). "Ratio" is that to the peer beside it, of the same run. [NOTES.md](measured/NOTES.md)
has the conditions. [SAMPLED.md](SAMPLED.md#cost) and [CUPTI.md](CUPTI.md#cost) say what watching costs by program,
[SCHEDULER_SPEED.md](SCHEDULER_SPEED.md) what tasks cost.

"""
COST_COLUMNS = ("use", "cost", "median", "range", "peer", "ratio", "rows")


def blocks_of(name):
    """Each run of a file as (date, commit, {case: [(value, unit, peer, ratio)]})."""
    date = commit = ""
    comments, cases = "", {}
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        lines = file.read().splitlines()
    for line in lines + ["#"]:
        if not line.startswith("#"):
            if comments:
                found = re.search(r"\b(20\d\d-\d\d-\d\d)", comments)
                date = found[1] if found else date
                found = re.search(r"\bcommit:? ([0-9a-f]{7})[0-9a-f]*\b", comments)
                commit = found[1] if found else commit
                comments = ""
            fields = line.split("\t")
            if len(fields) >= 7 and fields[1] != "case":
                cases.setdefault(fields[1], []).append((float(fields[2]), fields[3], fields[4], fields[6]))
            continue
        if cases:
            yield date, commit, cases
            cases = {}
        comments += line + "\n"


def short(number):
    text = f"{number:.3g}" if abs(number) < 1000 else f"{number:,.0f}"
    return "0" if text in ("-0", "0") else text


def in_unit(value, unit, wanted):
    if unit == wanted:
        return value
    if unit in SCALE and wanted in SCALE:
        return value * SCALE[unit] / SCALE[wanted]
    sys.exit(f"{TARGETS}: {wanted} for rows in {unit}: name the unit of the rows, or another of time")


def verdict(target, values):
    if target == "-":
        return ""
    sign, limit = target.split(" ")
    met = [value <= float(limit) if sign == "<=" else value >= float(limit) for value in values]
    return "yes" if all(met) else "part" if any(met) else "**no**"


def line_of(figure, target, unit, rows, case, peer):
    runs = []
    for name in sorted(os.listdir(FOLDER)):
        if not fnmatch.fnmatchcase(name, rows + ".tsv") or name == os.path.basename(TARGETS):
            continue
        for date, commit, cases in blocks_of(name):
            found = cases.get(case, [])
            with_peer = [row for row in found if row[2] == peer]
            for row in (with_peer or found)[:1]:
                ratio = row[3] if row[2] == peer and peer not in NO_PEERS else ""
                runs.append((in_unit(row[0], row[1], unit), ratio, date, commit, len(runs)))
    if not runs:
        sys.exit(f"{TARGETS}: {figure}: no row {case} in {rows}.tsv: name a case that is there")
    runs.sort(key=lambda run: run[0])
    values = [run[0] for run in runs]
    ratio = next((run[1] for run in [runs[(len(runs) - 1) // 2]] + runs if run[1]), "")
    last = max(runs, key=lambda run: (run[2], run[4]))
    spread = f"{short(values[0])} to {short(values[-1])}" if len(values) > 1 else ""
    bound = "" if target == "-" else f"{target[:2]} {short(float(target[3:]))}"
    median = f"{short(statistics.median(values))} {unit}"
    return (figure, bound, verdict(target, values), median, spread, str(len(values)), peer if ratio else "", ratio,
            f"`{rows}`", last[2], last[3])


def lines_of(name):
    with open(name, encoding="utf-8") as file:
        return [line.split("\t") for line in file.read().splitlines() if line and not line.startswith("#")][1:]


def table(columns, lines):
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [columns, ["---"] * len(columns)] + lines)


def glance_line(figures, use, cost, figure):
    if figure not in figures:
        sys.exit(f"{GLANCE}: {figure}: no such figure: name one of {TARGETS}")
    _, _, _, median, spread, _, peer, ratio, rows, _, _ = figures[figure]
    name = rows.strip("`") + ".tsv"
    return use, cost, median, spread, peer, ratio, f"[{name}](measured/{name})"


def pages():
    """Each page by its path."""
    lines = [line_of(*fields) for fields in lines_of(TARGETS)]
    made = {PAGE: HEAD + table(COLUMNS, lines)}
    if os.path.exists(GLANCE):
        figures = {line[0]: line for line in lines}
        made[COST] = COST_HEAD + table(COST_COLUMNS, [glance_line(figures, *fields) for fields in lines_of(GLANCE)])
    return made


def is_current(path, text):
    if not os.path.exists(path):
        return False
    with open(path, encoding="utf-8") as file:
        return file.read() == text


def check():
    """None, or what is wrong."""
    for path, text in pages().items() if os.path.exists(TARGETS) else ():
        if not is_current(path, text):
            return f"{path}:1: not current: run tools/measured.py"
    return None


if __name__ == "__main__":
    if sys.argv[1:] == ["--check"]:
        wrong = check()
        if wrong:
            sys.exit(wrong)
    elif sys.argv[1:]:
        sys.exit(__doc__)
    else:
        for path, text in pages().items():
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
