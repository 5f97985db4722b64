// Runs Perfetto's own trace processor (WebAssembly) outside of a browser: bytes of
// requests in, bytes of replies out, both as its RPC protocol has them.
//
// node perfetto_engine.cjs ENGINE_DIRECTORY < requests > replies

"use strict";

const fs = require("node:fs");
const path = require("node:path");

const [directory] = process.argv.slice(2);
const requests = fs.readFileSync(0);
const bundle = fs.readFileSync(path.join(directory, "engine_bundle.js"), "utf8");

// The engine is made for a web worker: it fetches its program synchronously.
class FileRequest {
  open(_method, name) {
    this.name = name;
  }
  send() {
    const bytes = fs.readFileSync(path.join(directory, path.basename(this.name)));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
    this.status = 200;
  }
}

const worker = { location: { href: "file:///engine_bundle.js" } };
const hidden = undefined;
new Function("self", "WorkerGlobalScope", "XMLHttpRequest", "process", "window", bundle)(
  worker,
  function WorkerGlobalScope() {},
  FileRequest,
  hidden,
  hidden,
);

const port = {
  postMessage: (bytes) => fs.writeSync(1, bytes),
};
worker.onmessage({ data: port });
// It is ready once the promises it waits for have been kept.
setImmediate(() => port.onmessage({ data: new Uint8Array(requests) }));
