// SPDX-License-Identifier: Apache-2.0
// perfetto_engine.mjs FOLDER: the trace processor of ui.perfetto.dev, as its web page has it in FOLDER (engine_bundle.js,
// trace_processor.wasm), out of its browser. Requests come in on standard input, answers leave on standard output: pieces
// of a TraceProcessorRpcStream, each behind four bytes of length. For perfetto_engine.py.
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { MessageChannel } from 'node:worker_threads';

const LENGTH = 4;
const folder = process.argv[2];
const wasm = new Uint8Array(readFileSync(`${folder}/trace_processor.wasm`));

// What the page's worker looks for. It refuses to run where it sees Node, and loads its code as pages do.
process.type = 'renderer';
globalThis.self = globalThis;
globalThis.location = { href: `file://${folder}/engine_bundle.js` };
globalThis.WorkerGlobalScope = function WorkerGlobalScope() {};
globalThis.importScripts = () => {};
globalThis.fetch = async () => new Response(wasm, { headers: { 'content-type': 'application/wasm' } });
globalThis.XMLHttpRequest = class {
  open() {}
  send() {
    this.status = 200;
    this.response = wasm.buffer.slice(wasm.byteOffset, wasm.byteOffset + wasm.length);
  }
};
console.log = console.error; // standard output is for answers
vm.runInThisContext(readFileSync(`${folder}/engine_bundle.js`, 'utf8'));

const { port1: theirs, port2: ours } = new MessageChannel();
self.onmessage({ data: theirs });
ours.onmessage = ({ data }) => {
  const length = Buffer.alloc(LENGTH);
  length.writeUInt32LE(data.length);
  process.stdout.write(Buffer.concat([length, data]));
};

let input = Buffer.alloc(0);
process.stdin.on('data', (data) => {
  input = Buffer.concat([input, data]);
  while (input.length >= LENGTH && input.length >= LENGTH + input.readUInt32LE(0)) {
    const end = LENGTH + input.readUInt32LE(0);
    ours.postMessage(new Uint8Array(input.subarray(LENGTH, end)));
    input = input.subarray(end);
  }
});
process.stdin.on('end', () => process.exit(0));
