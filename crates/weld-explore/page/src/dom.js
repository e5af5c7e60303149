// Elements from code. Text goes in as text: nothing in the page is ever parsed as markup.

/** An element with properties (`class`, `on…` listeners, attributes) and children (elements or text). */
export function h(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'class') element.className = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  for (const child of children.flat(Infinity))
    if (child !== null && child !== undefined && child !== false) element.append(child);
  return element;
}

/** The element with this id. */
export function byId(id) {
  return document.getElementById(id);
}
