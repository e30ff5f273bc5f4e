# SPDX-License-Identifier: Apache-2.0
"""Takes the bytes of a Perfetto trace apart, and knows nothing of what wrote them: protocol buffers, and from their
packets the slices, instants and counters of each track, nested as a viewer nests them."""
import struct


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if byte < 0x80:
            return value, at
        assert shift < 70, "a varint of more than ten bytes"


def fields(data):
    """{field: [value...]}: numbers, 64-bit values as bytes, texts and messages as bytes."""
    out, at = {}, 0
    while at < len(data):
        tag, at = varint(data, at)
        kind = tag & 7
        if kind == 0:
            value, at = varint(data, at)
        elif kind == 1:
            value, at = data[at : at + 8], at + 8
        else:
            assert kind == 2, f"wire type {kind}"
            size, at = varint(data, at)
            value, at = data[at : at + size], at + size
            assert len(value) == size, "a message that is cut"
        out.setdefault(tag >> 3, []).append(value)
    assert at == len(data)
    return out


def text(message, field):
    return message[field][0].decode("utf-8") if field in message else None


class Perfetto:
    """A trace: tracks by uuid, and by track what a viewer makes of its events. Times are microseconds
    from `origin_ns` on."""

    def __init__(self, data, origin_ns):
        self.origin_ns = origin_ns
        self.tracks, self.interned, self.events, self.clocks = {}, {1: {}, 2: {}, 3: {}}, [], {}
        for packet in fields(data)[1]:
            self.packet(fields(packet))
        self.slices, self.instants, self.counters = [], [], []
        open_slices = {}
        for time, _, event in sorted(self.events, key=lambda e: (e[0], e[1])):
            self.play(time, event, open_slices)
        self.unfinished = [s for stack in open_slices.values() for s in stack]

    def packet(self, p):
        assert p[10] == [1], "all of one sequence"
        if 6 in p:
            self.clocks = {c[1][0]: c[2][0] for c in map(fields, fields(p[6][0])[1])}
        if 12 in p:
            assert p[13][0] & 2
            for field, entries in fields(p[12][0]).items():
                for entry in map(fields, entries):
                    assert entry[1][0] not in self.interned[field], "interned twice"
                    self.interned[field][entry[1][0]] = text(entry, 2)
        if 60 in p:
            t = fields(p[60][0])
            assert t[1][0] not in self.tracks
            if 5 in t:
                assert t[5][0] in self.tracks, "a parent that comes later"
            self.tracks[t[1][0]] = t
        if 11 in p:
            self.events.append((p[8][0], len(self.events), self.event(fields(p[11][0]))))

    def event(self, e):
        assert e[11][0] in self.tracks, "a track that comes later"
        name = self.interned[2][e[10][0]] if 10 in e else text(e, 23)
        args = {}
        for a in map(fields, e.get(4, [])):
            value = a[3][0] if 3 in a else a[7][0] if 7 in a else text(a, 6)
            args[self.interned[3][a[1][0]]] = value
        return {
            "type": e[9][0],
            "track": e[11][0],
            "name": name,
            "in": self.interned[1][e[3][0]] if 3 in e else None,
            "args": args,
            "flow": struct.unpack("<Q", e[47][0])[0] if 47 in e else None,
            "value": struct.unpack("<d", e[44][0])[0] if 44 in e else None,
        }

    def play(self, time, event, open_slices):
        stack = open_slices.setdefault(event["track"], [])
        event["start"], event["where"] = (time - self.origin_ns) / 1000, self.path(event["track"])
        if event["type"] == 1:
            event["inside"] = [s["name"] for s in stack]
            stack.append(event)
        elif event["type"] == 2:
            assert stack, ("an end without a beginning", event)
            done = stack.pop()
            done["us"] = (time - self.origin_ns) / 1000 - done["start"]
            self.slices.append(done)
        elif event["type"] == 3:
            self.instants.append(event)
        else:
            self.counters.append(event)

    def path(self, uuid):
        t = self.tracks[uuid]
        if 3 in t:
            p = fields(t[3][0])
            name = f"{text(p, 6)}[{p[1][0]}]"
        elif 4 in t:
            name = text(fields(t[4][0]), 5)
        else:
            name = text(t, 2)
        return self.path(t[5][0]) + "/" + name if 5 in t else name
