#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""screen_svg.py TITLE: a screen of `tmux capture-pane -p -e` on standard input becomes an SVG on standard output."""
import html
import re
import sys

COLOURS = ("#2e3440", "#d0606a", "#8fbf6f", "#e0c070", "#6f9fd8", "#b98ac8", "#6fc0c8", "#d8dee9",
           "#6a7488", "#f07880", "#a8d888", "#f8d880", "#88b8f0", "#d0a0e0", "#88d8e0", "#ffffff")
PAPER, INK = "#1e222a", "#d8dee9"
WIDTH, HEIGHT = 8.4, 17


def colour_256(number):
    if number < 16:
        return COLOURS[number]
    if number >= 232:
        return "#" + f"{8 + (number - 232) * 10:02x}" * 3
    number -= 16
    return "#" + "".join(f"{(0, 95, 135, 175, 215, 255)[number // d % 6]:02x}" for d in (36, 6, 1))


class Style:
    def __init__(self):
        self.reset()

    def reset(self):
        self.front = self.back = None
        self.bold = self.dim = self.reverse = False

    def apply(self, codes):
        codes = [int(code or 0) for code in codes.split(";")]
        while codes:
            code = codes.pop(0)
            if code == 0:
                self.reset()
            elif code in (1, 2, 7):
                setattr(self, ("bold", "dim", "reverse")[(1, 2, 7).index(code)], True)
            elif code == 22:
                self.bold = self.dim = False
            elif code == 27:
                self.reverse = False
            elif code in (38, 48) and codes[:1] == [5]:
                setattr(self, "front" if code == 38 else "back", colour_256(codes[1]))
                codes = codes[2:]
            elif code in (39, 49):
                setattr(self, "front" if code == 39 else "back", None)
            else:
                for first, name, bright in ((30, "front", 0), (40, "back", 0), (90, "front", 8), (100, "back", 8)):
                    if first <= code < first + 8:
                        setattr(self, name, COLOURS[code - first + bright])

    def colours(self):
        front, back = self.front or INK, self.back
        return (back or PAPER, front) if self.reverse else (front, back)


def runs(line, style):
    """Pairs of a text and (front, back, bold, dim)."""
    for part in re.split(r"(\x1b\[[0-9;]*m)", line):
        if part.startswith("\x1b["):
            style.apply(part[2:-1])
        elif part:
            yield re.sub(r"\x1b\([A-Z0-9]|[\x00-\x1f]", "", part), (*style.colours(), style.bold, style.dim)


def draw(lines, title):
    columns = max(len(re.sub(r"\x1b\[[0-9;]*m", "", line)) for line in lines)
    width, height = columns * WIDTH + 20, len(lines) * HEIGHT + 20
    yield (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" '
           f'font-family="DejaVu Sans Mono,Menlo,Consolas,monospace" font-size="14" role="img">')
    yield f"<title>{html.escape(title)}</title>"
    yield f'<rect width="100%" height="100%" rx="6" fill="{PAPER}"/>'
    style = Style()
    for row, line in enumerate(lines):
        column, y = 0, 10 + row * HEIGHT
        for text, (front, back, bold, dim) in runs(line, style):
            x, wide = 10 + column * WIDTH, len(text) * WIDTH
            if back:
                yield f'<rect x="{x:.1f}" y="{y}" width="{wide:.1f}" height="{HEIGHT}" fill="{back}"/>'
            if text.strip():
                extra = (' font-weight="bold"' if bold else "") + (' opacity="0.6"' if dim else "")
                yield (f'<text x="{x:.1f}" y="{y + 13}" fill="{front}" textLength="{wide:.1f}" '
                       f'xml:space="preserve"{extra}>{html.escape(text)}</text>')
            column += len(text)
    yield "</svg>"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: screen_svg.py TITLE < SCREEN")
    lines = sys.stdin.read().rstrip("\n").split("\n")
    print("\n".join(draw(lines, sys.argv[1])))


main()
