// SPDX-License-Identifier: MIT
// Unpacks the data that post wrote into the page: JSON, packed by zlib, in base64.

export function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

export async function unpack(base64: string): Promise<unknown> {
  if (typeof DecompressionStream === 'undefined')
    throw new Error('This browser cannot unpack the data (it has no DecompressionStream): use a newer one.');
  const packed = new Blob([bytesOf(base64)]).stream();
  const text = await new Response(packed.pipeThrough(new DecompressionStream('deflate'))).text();
  return JSON.parse(text);
}
