// From the elements of the page to bytes.
//
// What weld puts into the page are elements that browsers neither show nor run: `weld-meta` with JSON, and one
// `weld-NAME` for each blob, base64 of a gzip stream. The text of an element is let go as soon as it is decoded.

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
    packed = fromBase64(element.textContent.trim());
  } catch {
    throw new DamagedPage(`the part “${name}” is not base64: was the file cut off?`);
  }
  element.textContent = '';
  try {
    return await gunzip(packed);
  } catch {
    throw new DamagedPage(`the part “${name}” cannot be unpacked: was the file cut off?`);
  }
}

function fromBase64(text) {
  if (typeof Uint8Array.fromBase64 === 'function') return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** Unpacks a gzip stream. */
export async function gunzip(packed) {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('gzip'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
