// A kernel in a browser or in Node: one robot, resident in the memory of its module.
//
// openKernel(code, layout) takes the module's bytes and its layout as footfall wrote them. Values are typed arrays that
// look into that memory: read them after advance(), write to inputs before it. advance(0) computes outputs only.

const KINDS = { float64: Float64Array, float32: Float32Array, int32: Int32Array, bool: Uint8Array };

export async function openKernel(code, layout) {
  const { instance } = await WebAssembly.instantiate(code, {});
  const { memory, inputs, outputs, run, _initialize } = instance.exports;
  if (_initialize) _initialize();
  const look = (base, places) =>
    Object.fromEntries(
      places.map(({ name, dtype, shape, offset }) => [
        name,
        new KINDS[dtype](memory.buffer, base + offset, shape.reduce((a, b) => a * b, 1)),
      ]),
    );
  const kernel = {
    inputs: look(inputs(), layout.inputs),
    outputs: look(outputs(), layout.outputs),
    advance: (count) => run(count),
    // Every input as it was at the start; outputs follow with the next advance.
    reset() {
      const bytes = Uint8Array.from(atob(layout.start), (c) => c.charCodeAt(0));
      new Uint8Array(memory.buffer, inputs(), bytes.length).set(bytes);
    },
  };
  if (layout.start) kernel.reset();
  return kernel;
}
