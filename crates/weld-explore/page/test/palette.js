// PNGs with a palette of up to 256 colours.
//
// The pictures are flat areas and anti-aliased text: the most frequent colours are kept, others become the
// nearest of them, which no eye sees.

import { deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';

/** The PNG `bytes` with a palette; alpha is dropped. */
export function withPalette(bytes) {
  const { width, height, data } = PNG.sync.read(Buffer.from(bytes));
  const counts = new Map();
  for (let i = 0; i < data.length; i += 4) {
    const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort((a, b) => b[1] - a[1])
    .slice(0, 256)
    .map(([colour]) => colour);
  const places = new Map(palette.map((colour, place) => [colour, place]));
  const rows = Buffer.alloc((width + 1) * height);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      const i = 4 * (y * width + x);
      const colour = (data[i] << 16) | (data[i + 1] << 8) | data[i + 2];
      if (!places.has(colour)) places.set(colour, nearest(palette, colour));
      rows[y * (width + 1) + 1 + x] = places.get(colour);
    }
  }
  return encode(width, height, palette, rows);
}

function nearest(palette, colour) {
  let best = 0;
  let least = Infinity;
  palette.forEach((other, place) => {
    let distance = 0;
    for (const shift of [0, 8, 16]) distance += (((colour >> shift) & 255) - ((other >> shift) & 255)) ** 2;
    if (distance < least) [best, least] = [place, distance];
  });
  return best;
}

// The chunks of a PNG with eight bits a pixel that are places in a palette.
function encode(width, height, palette, rows) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 3, 0, 0, 0], 8);
  const colours = Buffer.from(palette.flatMap(colour => [colour >> 16, (colour >> 8) & 255, colour & 255]));
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    chunk('PLTE', colours),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type, content) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), content]);
  const out = Buffer.alloc(body.length + 8);
  out.writeUInt32BE(content.length, 0);
  body.copy(out, 4);
  out.writeUInt32BE(crc(body), body.length + 4);
  return out;
}

function crc(bytes) {
  let value = ~0;
  for (const byte of bytes) {
    value ^= byte;
    for (let bit = 0; bit < 8; bit++) value = (value >>> 1) ^ (value & 1 ? 0xedb88320 : 0);
  }
  return ~value >>> 0;
}
