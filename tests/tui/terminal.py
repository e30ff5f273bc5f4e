# SPDX-License-Identifier: Apache-2.0
"""terminal: a program on a terminal of its own, and what stands on its screen. It understands what curses sends to a
terminal of the kind xterm or linux; colours are left out."""
import codecs
import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

# A beginning of a longer sequence is none of a shorter one: it waits for its rest.
TOKEN = re.compile(r"\x1b\[([?>!]?)([0-9;]*)([@-~])|\x1b\][^\x07]*\x07|\x1b[()].|\x1b([^][()])|([\x00-\x1a\x1c-\x1f])|([^\x00-\x1f]+)", re.S)


PATIENCE_S = 5


class Screen:
    """Cells by row, as the bytes so far have left them."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.cells = [[" "] * columns for _ in range(rows)]
        self.row = self.column = 0
        self.top, self.bottom = 0, rows - 1
        self.last, self.rest, self.odd = " ", "", set()
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def text(self):
        return "\n".join("".join(line).rstrip() for line in self.cells)

    def take(self, data):
        text = self.rest + self.decoder.decode(data)
        at = text.rfind("\x1b")
        whole = at < 0 or (TOKEN.match(text, at) is not None)
        self.rest, text = ("", text) if whole else (text[at:], text[:at])
        for match in TOKEN.finditer(text):
            private, numbers, final, single, control, plain = match.groups()
            if plain:
                for char in plain:
                    self.put(char)
            elif control:
                self.control(control)
            elif final and not private:
                self.sequence(final, [int(n) if n else 0 for n in numbers.split(";")])
            elif single == "M":
                self.up()

    def put(self, char):
        if self.column == self.columns:
            self.column = 0
            self.down()
        self.cells[self.row][self.column] = self.last = char
        self.column += 1

    def control(self, char):
        if char == "\r":
            self.column = 0
        elif char == "\n":
            self.down()
        elif char == "\b":
            self.column = max(self.column - 1, 0)
        elif char == "\t":
            self.column = min((self.column // 8 + 1) * 8, self.columns - 1)

    def down(self):
        if self.row == self.bottom:
            self.scroll(self.top, 1)
        else:
            self.row = min(self.row + 1, self.rows - 1)

    def up(self):
        if self.row == self.top:
            self.scroll(self.top, -1)
        else:
            self.row = max(self.row - 1, 0)

    def scroll(self, first, count):
        """Rows from `first` to the region's end move up, or down."""
        part = self.cells[first:self.bottom + 1]
        blank = [[" "] * self.columns for _ in range(min(abs(count), len(part)))]
        self.cells[first:self.bottom + 1] = part[len(blank):] + blank if count > 0 else blank + part[:len(part) - len(blank)]

    def erase(self, begin, end):
        """Of the screen, in reading order."""
        for at in range(begin, end):
            self.cells[at // self.columns][at % self.columns] = " "

    def sequence(self, final, numbers):
        n, line = max(numbers[0], 1), self.cells[self.row]
        here, row_begin = self.row * self.columns + min(self.column, self.columns - 1), self.row * self.columns
        if final in "Hf":
            self.row = min(n, self.rows) - 1
            self.column = min(max(numbers[1] if len(numbers) > 1 else 1, 1), self.columns) - 1
        elif final == "d":
            self.row = min(n, self.rows) - 1
        elif final in "G`":
            self.column = min(n, self.columns) - 1
        elif final == "A":
            self.row = max(self.row - n, 0)
        elif final == "B":
            self.row = min(self.row + n, self.rows - 1)
        elif final == "C":
            self.column = min(self.column + n, self.columns - 1)
        elif final == "D":
            self.column = max(self.column - n, 0)
        elif final == "J":
            self.erase(0 if numbers[0] else here, here + 1 if numbers[0] == 1 else self.rows * self.columns)
        elif final == "K":
            self.erase(row_begin if numbers[0] else here, here + 1 if numbers[0] == 1 else row_begin + self.columns)
        elif final == "X":
            self.erase(here, min(here + n, row_begin + self.columns))
        elif final == "P":
            line[self.column:] = (line[self.column + n:] + [" "] * n)[:self.columns - self.column]
        elif final == "@":
            line[self.column:] = ([" "] * n + line[self.column:])[:self.columns - self.column]
        elif final in "LM":
            self.scroll(self.row, n if final == "M" else -n)
        elif final in "ST":
            self.scroll(self.top, n if final == "S" else -n)
        elif final == "b":
            for _ in range(n):
                self.put(self.last)
        elif final == "r":
            self.top, self.bottom = n - 1, (numbers[1] if len(numbers) > 1 and numbers[1] else self.rows) - 1
            self.row = self.column = 0
        elif final not in "mhltcn":
            self.odd.add(final)


class Terminal:
    """A program that runs on a terminal. `raw` keeps all that it sent, `screen` what that left."""

    def __init__(self, program, line, environment, rows=40, columns=140):
        self.screen, self.raw = Screen(rows, columns), b""
        go, told = os.pipe()
        self.child, self.terminal = pty.fork()
        if self.child == 0:
            os.close(told)
            os.read(go, 1)  # until the terminal has its size
            os.execve(program, line, environment)
        os.close(go)
        fcntl.ioctl(self.terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        os.close(told)

    def type(self, keys):
        os.write(self.terminal, keys)

    def look(self, seconds):
        """Takes what comes within that time, once. Returns: whether the program still has the terminal."""
        if not select.select([self.terminal], [], [], seconds)[0]:
            return True
        try:
            data = os.read(self.terminal, 65536)
        except OSError:  # nobody has it open any more
            return False
        self.raw += data
        self.screen.take(data)
        return bool(data)

    def close(self):
        """Asks it to end, and insists after a while: what it started shall not run on beside the next one."""
        os.kill(self.child, signal.SIGTERM)
        end = time.monotonic() + PATIENCE_S
        while os.waitpid(self.child, os.WNOHANG)[0] == 0:
            self.look(0.02)
            if time.monotonic() > end:
                os.kill(self.child, signal.SIGKILL)
                end = float("inf")
        os.close(self.terminal)
