# SPDX-License-Identifier: Apache-2.0
"""Holds the bytes of a Perfetto trace to Perfetto's own schema, as its Python package (`pip install perfetto protobuf`)
has it: nothing in it is unknown there, and events, tracks and interned words agree as its documents demand."""
try:
    from google.protobuf import unknown_fields
    from google.protobuf.message import Message
    from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema
except ImportError:
    schema = None


def messages(message, path="trace"):
    """Every message of one, at any depth."""
    yield path, message
    for field, value in message.ListFields():
        if field.type != field.TYPE_MESSAGE:
            continue
        for one in [value] if isinstance(value, Message) else value:
            yield from messages(one, f"{path}.{field.name}")


class Words:
    """What the sequence has interned so far, by field of its InternedData."""

    def __init__(self):
        self.known, self.began = {}, False

    def packet(self, packet):
        flags = packet.sequence_flags
        self.began |= bool(flags & packet.SEQ_INCREMENTAL_STATE_CLEARED)
        assert self.began or not flags & packet.SEQ_NEEDS_INCREMENTAL_STATE, "words before the state is cleared"
        for field, entries in packet.interned_data.ListFields():
            for entry in entries:
                assert entry.iid and (field.name, entry.iid) not in self.known, (field.name, entry.iid)
                self.known[field.name, entry.iid] = entry.name

    def need(self, field, iid):
        assert (field, iid) in self.known, (field, iid)


def track_check(descriptor, tracks):
    assert descriptor.uuid and descriptor.uuid not in tracks, descriptor
    if descriptor.HasField("parent_uuid"):
        assert descriptor.parent_uuid in tracks, descriptor
    assert descriptor.name or descriptor.HasField("process") or descriptor.HasField("thread"), descriptor
    tracks[descriptor.uuid] = descriptor


def event_check(event, words, tracks):
    assert event.track_uuid in tracks, event
    counts = event.type == event.TYPE_COUNTER
    assert counts == tracks[event.track_uuid].HasField("counter"), event
    assert counts == (event.WhichOneof("counter_value_field") is not None), event
    for iid in event.category_iids:
        words.need("event_categories", iid)
    if event.HasField("name_iid"):
        words.need("event_names", event.name_iid)
    for note in event.debug_annotations:
        words.need("debug_annotation_names", note.name_iid)
        assert note.WhichOneof("value") is not None, event
    if event.type in (event.TYPE_SLICE_BEGIN, event.TYPE_INSTANT):
        assert event.name_iid or event.name, event


def nesting_check(events):
    """Events of one track in order of time and, at one time, of the file. Returns how many slices have no end."""
    depth = 0
    for _, event in sorted(events, key=lambda e: e[0]):
        depth += (event.type == event.TYPE_SLICE_BEGIN) - (event.type == event.TYPE_SLICE_END)
        assert depth >= 0, ("an end without a beginning", event)
    return depth


def check(data):
    """Returns: how many events, tracks, and slices without an end."""
    trace = schema.Trace()
    trace.ParseFromString(data)
    for path, message in messages(trace):
        unknown = [field.field_number for field in unknown_fields.UnknownFieldSet(message)]
        assert not unknown, (path, unknown)
    words, tracks, by_track = Words(), {}, {}
    for packet in trace.packet:
        assert packet.trusted_packet_sequence_id == 1
        words.packet(packet)
        if packet.HasField("track_descriptor"):
            track_check(packet.track_descriptor, tracks)
        if packet.HasField("track_event"):
            assert packet.HasField("timestamp"), packet
            event_check(packet.track_event, words, tracks)
            by_track.setdefault(packet.track_event.track_uuid, []).append((packet.timestamp, packet.track_event))
    return sum(map(len, by_track.values())), len(tracks), sum(map(nesting_check, by_track.values()))
