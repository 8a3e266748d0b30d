"""The browser: one lane, resident in the memory of a WebAssembly module that needs no host.

`memory.py` says where in that memory each value is, `wasm_module.py` builds the module by the
package ziglang, `kernel.mjs` is what JavaScript does with it.
"""
