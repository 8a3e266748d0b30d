// A WebAssembly module of a page, opened.

import { openKernel } from "../../src/footfall/engines/kernels/targets/wasm/kernel.mjs";
import { bytesOf, type Module } from "./page";

export type Numbers = Float64Array | Float32Array | Int32Array | Uint8Array;

export interface Kernel {
  inputs: Record<string, Numbers>;
  outputs: Record<string, Numbers>;
  advance(count: number): void;
}

export async function open(module: Module): Promise<Kernel> {
  return openKernel(bytesOf(module.code), module.layout);
}
