#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Are documents and commit subjects plain English? Prints a table of documents: words, the mean and the 90th percentile
of words a sentence, the longest sentence.

Counted is the prose: no headings, tables, blocks of code and comments; text in backticks is one word. CONTRIBUTING.md
("Words") has the rules that this checks. The page that tools/measured.py writes must be current."""
import re
import subprocess

import measured
from lint_files import Report, lines_of, matching

LONG = 25  # words of a sentence, which TOLERATED of a hundred may exceed, but none LONGEST
LONGEST = 30
TOLERATED = 5
WORDS = 2000  # of a document's prose, references aside
REFERENCES = ("docs/DIALECT.md", "docs/CUPTI.md", "docs/LOG_FORMAT.md")
SUBJECT = re.compile(r"[\w./*+-]+(?:, [\w./*+-]+)*: \S")
SUBJECT_LONGEST = 72
# Commits up to this one are older than the rule for subjects. A clone that lacks it has its newest one checked.
SINCE = "08533bd34eff470c601be04f8ce07cd1a91d9a32"
MADE_BY_GIT = ("Merge ", "Revert ", "fixup! ", "squash! ")

OPENERS = (
    (re.compile(r"(?:Who|Whose|Whom|Whoever|What|Whatever)\b"), "a process that ..., the value that ..."),
    (re.compile(r"Of (?:an?|the|all|each|two|those|several|one|it|them|every)\b"), "in a diverged warp one lane ..."),
    (re.compile(r"(?:So|As) (?:is|are|do|does|did|can) (?!not\b)"), "the same holds for ..."),
)
ITEM = re.compile(r"\s*(?:[-*+]|\d+[.)])\s+")
END = re.compile(r"(?<=[.!?])[)*\"']*\s+(?=[\"'(*]*[A-Z0-9`\x00])")
ABBREVIATED = re.compile(r"\b(?:e\.g|i\.e|etc|vs|cf|approx)\.$")


def paragraphs(name):
    """Each paragraph and list item of prose as its first line's number and its text."""
    code = comment = False
    number, text = 0, ""
    for at, line in enumerate(lines_of(name), 1):
        fence = line.lstrip().startswith("```")
        code ^= fence
        if not code and not comment and "<!--" in line:
            comment = True
            line = line.split("<!--")[0]
        elif comment:
            comment = "-->" not in line
            continue
        if "-->" in lines_of(name)[at - 1]:
            comment = False
        indented = line.startswith("    ") and not text
        item = ITEM.match(line)
        other = code or fence or indented or not line.strip() or line.lstrip()[:1] in "#|<"
        if text and (other or item):
            yield number, text
            text = ""
        if other:
            continue
        if not text:
            number = at
        text += " " + (line[item.end():] if item else line.strip())
    if text:
        yield number, text


def sentences(text):
    """The sentences of a paragraph, code as one word each, without the bold words that some begin with."""
    text = re.sub(r"`[^`]*`", "\x00", text.strip())
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^\*\*[^*]*[.:]\*\*\s*", "", text)
    begun = ""
    for part in END.split(text):
        begun += (" " if begun else "") + part
        if not ABBREVIATED.search(begun):
            yield begun
            begun = ""
    if begun:
        yield begun


def words(sentence):
    return len([word for word in sentence.split() if re.search(r"[\w\x00]", word)])


def check_document(name):
    """Reports what is wrong, and gives the document's line of the table."""
    counts, long_ones = [], []
    for number, text in paragraphs(name):
        for sentence in sentences(text):
            count = words(sentence)
            if not count:
                continue
            counts.append(count)
            start = " ".join(sentence.replace("\x00", "`...`").lstrip("*\"'(").split()[:6])
            if count > LONG:
                long_ones.append((number, count, start))
            for opener, advice in OPENERS:
                if opener.match(start if not sentence.endswith("?") else ""):
                    report.say(name, number, f'opener "{start} ..."', f"begin with the subject: {advice}")
    for number, count, start in long_ones:
        if count > LONGEST or len(long_ones) * 100 > TOLERATED * len(counts):
            report.say(name, number, f'{count} words in "{start} ..."', f"one idea a sentence, at most {LONG} words")
    total = sum(counts)
    if total > WORDS and name not in REFERENCES:
        report.say(name, 1, f"{total} words", f"at most {WORDS}: split it, or cut what another page says")
    counts.sort()
    if counts:
        ninetieth = counts[(len(counts) * 9 - 1) // 10]
        return f"{name:34} {total:6} {total / len(counts):6.1f} {ninetieth:6} {counts[-1]:6}"
    return f"{name:34} {0:6}"


def check_subjects():
    git = lambda *arguments: subprocess.run(["git", *arguments], capture_output=True, text=True)
    known = git("merge-base", "--is-ancestor", SINCE, "HEAD").returncode == 0
    which = (f"{SINCE}..HEAD",) if known else ("-1",)
    for line in git("log", "--format=%h %s", *which).stdout.splitlines():
        commit, _, subject = line.partition(" ")
        if subject.startswith(MADE_BY_GIT):
            continue
        if len(subject) > SUBJECT_LONGEST:
            report.say(commit, 1, f"{len(subject)} characters of subject",
                       f"at most {SUBJECT_LONGEST}; the body says why")
        if not SUBJECT.match(subject):
            report.say(commit, 1, f'subject "{subject}"', "write `room: change`")


report = Report()
table = [check_document(name) for name in matching("*.md")]
print(f"{'document':34} {'words':>6} {'mean':>6} {'p90':>6} {'longest':>6}")
print("\n".join(table))
check_subjects()
if stale := measured.check():
    report.count += 1
    print(stale)
report.end()
