// SPDX-License-Identifier: Apache-2.0
// Arrays that the page contains as base64 of zlib data; each is decoded once, when first needed.
import type { Block } from "./types";

export type Numbers = Uint8Array | Uint16Array | Uint32Array | Float32Array;

export function fromBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export async function inflate(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

const makers = {
  u8: (b: ArrayBuffer) => new Uint8Array(b),
  u16: (b: ArrayBuffer) => new Uint16Array(b),
  u32: (b: ArrayBuffer) => new Uint32Array(b),
  f32: (b: ArrayBuffer) => new Float32Array(b),
};
const widths = { u8: 1, u16: 2, u32: 4, f32: 4 };

// The data is little-endian; so is every machine that runs a browser today.
export function asNumbers(bytes: Uint8Array<ArrayBuffer>, block: Block): Numbers {
  const count = block.shape.reduce((a, b) => a * b, 1);
  if (bytes.byteLength !== count * widths[block.type]) {
    throw new Error(
      `block ${block.block} has ${bytes.byteLength} bytes; ` +
        `${block.type} [${block.shape}] needs ${count * widths[block.type]}`,
    );
  }
  return makers[block.type](bytes.buffer);
}

const decoded = new Map<number, Promise<Numbers>>();

async function decode(block: Block): Promise<Numbers> {
  if (block.shape.some((n) => n === 0)) return makers[block.type](new ArrayBuffer(0));
  const element = document.getElementById(`weft-block-${block.block}`);
  if (!element) throw new Error(`block ${block.block} is not in the page`);
  return asNumbers(await inflate(fromBase64(element.textContent ?? "")), block);
}

export function numbers(block: Block): Promise<Numbers> {
  let promise = decoded.get(block.block);
  if (!promise || block.shape.includes(0)) {
    promise = decode(block);
    decoded.set(block.block, promise);
  }
  return promise;
}

export const bytesOf = (block: Block) => numbers(block) as Promise<Uint8Array>;
export const wordsOf = (block: Block) => numbers(block) as Promise<Uint32Array>;
export const floatsOf = (block: Block) => numbers(block) as Promise<Float32Array>;
