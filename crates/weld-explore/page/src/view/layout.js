// Which rectangles the picture has.
//
// Squarified treemaps by d3's tiling, but only of what can be seen: a group is opened if its rectangle is large
// enough, and of its children those get rectangles that would have at least `LEAST` square pixels; the smaller
// ones share one. So a picture costs what its screen can show, whatever the file holds.

import { treemapSquarify } from 'd3-hierarchy';

export const HEADER = 18;
const INSET = 2;
const LEAST = 24;
const MOST_BOXES = 24000;

const tile = treemapSquarify.ratio(1.25);

/**
 * Boxes of `root` in a rectangle, each after the one around it. Groups are opened level by level; those that are
 * not within `budget` milliseconds stay closed, and `boxes.complete` is false: what was opened is quick next time.
 */
export function layout(root, width, height, budget = Infinity) {
  const until = performance.now() + budget;
  let opened = 0;
  for (let least = LEAST; ; least *= 2) {
    const boxes = [
      { node: root, value: root.value, x0: 0, y0: 0, x1: width, y1: height, depth: 0, around: null },
    ];
    boxes.complete = true;
    for (let i = 0; i < boxes.length && boxes.length <= MOST_BOXES; i++) {
      const box = boxes[i];
      box.isOpen = false;
      if (!opens(box, least)) continue;
      // One at least, so that there is an end.
      const isNew = !box.node.cachedGroups;
      if (isNew && opened > 0 && performance.now() >= until) boxes.complete = false;
      else open(box, boxes, least);
      if (isNew) opened++;
    }
    if (boxes.length <= MOST_BOXES) return boxes;
  }
}

// Is there room for children?
function opens(box, least) {
  const { node } = box;
  if (box.depth === 0) return true;
  if (node.isLeaf || node.kind === 'rest') return false;
  const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
  return width > 11 && height > 11 && width * height > 12 * least;
}

// Puts the children of `box` into it.
function open(box, boxes, least) {
  const { node } = box;
  const inner = innerOf(box);
  const scale = ((inner.x1 - inner.x0) * (inner.y1 - inner.y0)) / node.value;
  const children = visible(node, scale, least, box.depth === 0);
  if (children.length === 0) return;
  box.isOpen = true;
  tile({ value: node.value, children }, inner.x0, inner.y0, inner.x1, inner.y1);
  for (const child of children) {
    child.depth = box.depth + 1;
    child.around = box;
    boxes.push(child);
  }
}

// Where the children of a box are: below its name, if there is room for one.
function innerOf(box) {
  if (box.depth === 0) return { x0: box.x0, y0: box.y0, x1: box.x1, y1: box.y1 };
  const hasHeader = box.x1 - box.x0 > 40 && box.y1 - box.y0 > 2.2 * HEADER;
  box.hasHeader = hasHeader;
  return {
    x0: box.x0 + INSET,
    y0: box.y0 + (hasHeader ? HEADER : INSET),
    x1: box.x1 - INSET - 1,
    y1: box.y1 - INSET - 1,
  };
}

// Boxes for the children of at least `least` square pixels, and one for the others.
function visible(node, scale, least, isRoot) {
  const { groups } = node;
  let count = 0;
  let [low, high] = [0, groups.n];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (groups.area[middle] * scale >= least) low = middle + 1;
    else high = middle;
  }
  count = Math.min(low, 4000);
  if (count === 0 && isRoot) count = Math.min(groups.n, 400);
  if (count === 0) return [];
  if (count === groups.n - 1) count = groups.n;
  const children = [];
  for (let i = 0; i < count; i++) children.push(boxFor(node.child(i)));
  if (count < groups.n) children.push(boxFor(node.rest(count)));
  return children;
}

function boxFor(node) {
  return { node, value: node.value, x0: 0, y0: 0, x1: 0, y1: 0 };
}

/** The innermost box at a point; null outside. */
export function boxAt(boxes, x, y) {
  // Boxes come after those around them, so the last that has the point is the innermost.
  for (let i = boxes.length - 1; i >= 0; i--) {
    const box = boxes[i];
    if (x >= box.x0 && x < box.x1 && y >= box.y0 && y < box.y1) return box;
  }
  return null;
}
