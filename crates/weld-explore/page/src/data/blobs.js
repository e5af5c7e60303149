// From the elements of the page to bytes.
//
// What weld puts into the page are elements that browsers neither show nor run: `weld-meta` with JSON, and one
// `weld-NAME` for each blob: a gzip stream, seven bits a character. The text of an element is let go as soon as it is decoded.

export class DamagedPage extends Error {}

/** The parsed JSON of `weld-meta`, or null in a page without data (the template). */
export function readMeta() {
  const element = document.getElementById('weld-meta');
  if (!element) return null;
  try {
    return JSON.parse(element.textContent);
  } catch (error) {
    throw new DamagedPage(`its description is not JSON (${error.message})`);
  }
}

/** The bytes of blob `name`, unpacked. */
export async function readBlob(name) {
  const element = document.getElementById(`weld-${name}`);
  if (!element) throw new DamagedPage(`the part “${name}” is absent`);
  let packed;
  try {
    packed = fromSeptets(element.textContent);
  } catch {
    throw new DamagedPage(`the part “${name}” has characters that weld did not write: was the file changed?`);
  }
  element.textContent = '';
  try {
    return await gunzip(packed);
  } catch {
    throw new DamagedPage(`the part “${name}” cannot be unpacked: was the file cut off?`);
  }
}

/**
 * The bytes of a text of seven bits a character, highest first. Characters that an element cannot have are those 128
 * further. Budget: about 2 ns a byte.
 */
export function fromSeptets(text) {
  const bytes = new Uint8Array(Math.floor((text.length * 7) / 8));
  let strange = 0;
  const next = i => {
    const code = text.charCodeAt(i);
    strange |= code;
    return code & 127;
  };
  const four = i => (next(i) << 21) | (next(i + 1) << 14) | (next(i + 2) << 7) | next(i + 3);
  let at = 0;
  let i = 0;
  for (; i + 8 <= text.length; i += 8) {
    const high = four(i);
    const low = four(i + 4);
    bytes[at++] = high >> 20;
    bytes[at++] = high >> 12;
    bytes[at++] = high >> 4;
    bytes[at++] = (high << 4) | (low >> 24);
    bytes[at++] = low >> 16;
    bytes[at++] = low >> 8;
    bytes[at++] = low;
  }
  for (let bits = 0, have = 0; i < text.length; i++) {
    bits = ((bits & 127) << 7) | next(i);
    have += 7;
    if (have < 8) continue;
    have -= 8;
    bytes[at++] = bits >> have;
  }
  if (strange > 255) throw new RangeError('not seven bits');
  return bytes;
}

/** Unpacks a gzip stream. */
export async function gunzip(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
