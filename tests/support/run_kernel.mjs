// What a page does with a kernel, without the page.
//
// node run_kernel.mjs kernel.mjs MODULE LAYOUT COUNTS RESULT: opens a module, advances by each count in turn, writes every
// value's bytes (base64, by name), what the module imports, and how long each call took.

import fs from "node:fs";
import { pathToFileURL } from "node:url";

const [opener, module, layout, counts, result] = process.argv.slice(2);
const { openKernel } = await import(pathToFileURL(opener).href);
const code = fs.readFileSync(module);
const kernel = await openKernel(code, JSON.parse(fs.readFileSync(layout)));
const milliseconds = [];
for (const count of JSON.parse(counts)) {
  if (count === "reset") {
    kernel.reset();
    continue;
  }
  const began = performance.now();
  kernel.advance(count);
  milliseconds.push(performance.now() - began);
}
const bytes = (values) =>
  Object.fromEntries(
    Object.entries(values).map(([name, view]) => [
      name,
      Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64"),
    ]),
  );
const imports = WebAssembly.Module.imports(new WebAssembly.Module(code)).length;
fs.writeFileSync(
  result,
  JSON.stringify({ inputs: bytes(kernel.inputs), outputs: bytes(kernel.outputs), imports, milliseconds }),
);
