// Drawing the boxes of a layout on a canvas.
//
// Boxes with the same colour are filled together, names come last. Edges are on whole device pixels, one of which
// is left between neighbours. What a search has not found is washed out; a box that was not opened shows how much
// of it was found by how far it is filled.

import { HEADER } from './layout.js';
import { TextWidths, shortName } from './labels.js';
import { changeColour, inkOn, mix } from './colours.js';
import { bytes, change, shown } from '../format.js';
import { KIND_NAMES } from '../data/kinds.js';

const FAMILY = 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", Ubuntu, sans-serif';
const FONTS = { leaf: `12px ${FAMILY}`, small: `11px ${FAMILY}`, header: `600 11.5px ${FAMILY}` };

export class Painter {
  /** `scene` says what nodes are: `{ kind, compares, size, oldSize, found }`, columns with a number a piece. */
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d', { alpha: false });
    // Without kerning and ligatures: names letter for letter, as wide as the sum of their letters.
    this.context.textRendering = 'optimizeSpeed';
    this.widths = {};
    for (const [name, font] of Object.entries(FONTS)) this.widths[name] = new TextWidths(this.context, font);
  }

  /** Draws `boxes` in `colours`. */
  draw(boxes, scene, colours, ratio) {
    const { context } = this;
    context.setTransform(1, 0, 0, 1, 0, 0);
    context.fillStyle = colours.ground;
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    const fills = new Map();
    const texts = [];
    for (const box of boxes) {
      const edges = snapped(box, ratio);
      if (box.depth === 0 && box.isOpen) continue;
      if (box.isOpen) {
        // Groups are drawn at once, since what is in them comes over them.
        context.fillStyle = colours.levels[Math.min(box.depth, colours.levels.length) - 1];
        context.fillRect(...edges);
        if (box.hasHeader) texts.push(box);
      } else {
        this.#leaf(fills, box, edges, scene, colours);
        if (box.x1 - box.x0 > 30 && box.y1 - box.y0 > 14) texts.push(box);
      }
    }
    for (const [colour, rectangles] of fills) {
      context.fillStyle = colour;
      for (const [x, y, w, h] of rectangles) context.fillRect(x, y, w, h);
    }
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.textBaseline = 'middle';
    for (const box of texts) if (box.isOpen) this.#header(box, scene, colours);
    for (const box of texts) if (!box.isOpen) this.#name(box, scene);
  }

  #leaf(fills, box, edges, scene, colours) {
    const own = leafColour(box.node, scene, colours);
    // What is too small to be seen by itself is paler than what is one thing.
    const colour = box.node.kind === 'rest' ? mix(own, colours.levels[1], 0.5) : own;
    box.colour = colour;
    box.isWashed = false;
    if (!scene.found) return add(fills, colour, edges);
    const share = box.node.sum(scene.foundArea) / box.node.value;
    const [x, y, width, height] = edges;
    const filled = share > 0 ? Math.max(1, Math.round(height * share)) : 0;
    const washed = mix(colour, colours.ground, 0.22);
    if (filled < height) add(fills, washed, [x, y, width, height - filled]);
    // Names are at the top, which is filled last.
    if (filled < height - 20) box.colour = washed;
    box.isWashed = filled === 0;
    if (filled > 0) add(fills, colour, [x, y + height - filled, width, filled]);
  }

  #header(box, scene, colours) {
    const { context } = this;
    const room = box.x1 - box.x0 - 10;
    const size = sizeText(box.node, scene);
    const y = box.y0 + HEADER / 2 + 0.5;
    const name = fitName(this.widths.header, box.node.label, room);
    if (!name) return;
    context.font = FONTS.header;
    context.fillStyle = colours.headerInk;
    context.textAlign = 'left';
    context.fillText(name, box.x0 + 5, y);
    const used = context.measureText(name).width;
    context.font = FONTS.small;
    const width = context.measureText(size).width;
    if (used + width + 12 < room) {
      context.globalAlpha = 0.7;
      context.textAlign = 'right';
      context.fillText(size, box.x1 - 6, y);
      context.globalAlpha = 1;
    }
  }

  #name(box, scene) {
    const { context } = this;
    const [width, height] = [box.x1 - box.x0, box.y1 - box.y0];
    const room = width - 9;
    const text = fitName(this.widths.leaf, leafLabel(box.node), room);
    if (!text) return;
    const twoLines = height > 32;
    context.textAlign = 'left';
    context.font = FONTS.leaf;
    const { ink, faint } = inkOn(box.colour);
    context.fillStyle = box.isWashed ? faint : ink;
    context.fillText(text, box.x0 + 4, box.y0 + (twoLines ? 11 : Math.min(height / 2, 11)));
    if (!twoLines) return;
    const size = this.widths.small.fit(sizeText(box.node, scene), room);
    context.font = FONTS.small;
    context.fillStyle = faint;
    context.fillText(size, box.x0 + 4, box.y0 + 26);
  }
}

function leafLabel(node) {
  return node.kind === 'piece' ? shortName(node.label) : node.label;
}

// A name cut to its place; of a long path, what comes last says most.
function fitName(widths, name, room) {
  const text = widths.fit(shown(name, 300), room);
  const slash = name.lastIndexOf('/', name.length - 2);
  if (slash < 0 || (!text.endsWith('…') && name.length < 40)) return text;
  return widths.fit(shown(name.slice(slash + 1), 300), room);
}

function sizeText(node, scene) {
  if (!scene.compares) return bytes(node.value);
  const [before, after] = [node.sum(scene.oldSize), node.sum(scene.size)];
  return before === after ? bytes(after) : change(after - before);
}

/** The colour of a node that is not open. */
export function leafColour(node, scene, colours) {
  if (scene.compares) return changeColour(colours, node.sum(scene.oldSize), node.sum(scene.size));
  return colours.kinds[mainKind(node, scene)];
}

/** The kind of most of a node's bytes. */
export function mainKind(node, scene) {
  if (node.mainKind === undefined) {
    const sums = kindSums(node, scene);
    node.mainKind = sums.indexOf(Math.max(...sums));
  }
  return node.mainKind;
}

/** Bytes of `node` by kind. */
export function kindSums(node, scene) {
  const sums = new Array(KIND_NAMES.length).fill(0);
  const { order, area } = node.tree;
  for (let i = node.lo; i < node.hi; i++) sums[scene.kind[order[i]]] += area[order[i]];
  return sums;
}

// A box on whole device pixels: x, y, width, height, a pixel of gap to the right and below.
function snapped(box, ratio) {
  const x = Math.round(box.x0 * ratio);
  const y = Math.round(box.y0 * ratio);
  const gap = box.isOpen || Math.min(box.x1 - box.x0, box.y1 - box.y0) > 3 ? 1 : 0;
  return [
    x,
    y,
    Math.max(1, Math.round(box.x1 * ratio) - x - gap),
    Math.max(1, Math.round(box.y1 * ratio) - y - gap),
  ];
}

function add(fills, colour, edges) {
  const rectangles = fills.get(colour);
  if (rectangles) rectangles.push(edges);
  else fills.set(colour, [edges]);
}
