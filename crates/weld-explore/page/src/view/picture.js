// The picture: a canvas with the boxes of the node that is shown, and what a pointer and keys do there.
//
// Two canvases lie on each other: the picture, drawn when something has changed, and the outlines of what is
// under the pointer and what is selected, drawn often. Going into a group or out of it moves the old picture
// towards its place while the new one comes through: two drawn images a frame, whatever is in them.

import { layout, boxAt, HEADER } from './layout.js';
import { Painter } from './paint.js';

const ZOOM_MS = 260;
// Longer layouts go on in the next frame.
const LAYOUT_MS = 40;

export class Picture {
  /** `on` has `open(node)`, `out()`, `select(node)`, `hover(node, x, y)`. */
  constructor({ canvas, outlines, on }) {
    this.canvas = canvas;
    this.outlines = outlines;
    this.over = outlines.getContext('2d');
    this.on = on;
    this.painter = new Painter(canvas);
    this.boxes = [];
    this.byNode = new Map();
    this.root = null;
    this.selected = null;
    this.hovered = null;
    this.motion = 0;
    this.#listen();
  }

  /** Shows `root`; moves there if `moves` and the old picture has it, or was in it. */
  show(root, scene, colours, moves = false) {
    const from = moves && this.root && this.root !== root ? this.#snapshot() : null;
    const target = from && this.#motionRectangle(this.root, root);
    // What still moves towards an older picture ends here.
    this.motion++;
    this.isMoving = false;
    this.scene = scene;
    this.colours = colours;
    this.root = root;
    this.resize();
    if (from && target) this.#animate(from, target);
  }

  /** Lays out and draws anew, for the size that the canvas has now. */
  resize() {
    if (!this.root) return;
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    const ratio = Math.min(3, window.devicePixelRatio || 1);
    this.ratio = ratio;
    for (const canvas of [this.canvas, this.outlines]) {
      const [w, h] = [Math.round(width * ratio), Math.round(height * ratio)];
      if (canvas.width !== w) canvas.width = w;
      if (canvas.height !== h) canvas.height = h;
    }
    performance.mark('weld:layout');
    this.boxes = layout(this.root, width, height, LAYOUT_MS);
    this.byNode = new Map(this.boxes.map(box => [box.node, box]));
    performance.mark('weld:paint');
    this.redraw();
    performance.mark('weld:drawn');
    this.size = [width, height, ratio].join();
    clearTimeout(this.further);
    if (!this.boxes.complete) this.#goOn();
  }

  // Opens more when what there is has been seen.
  #goOn() {
    requestAnimationFrame(() => {
      clearTimeout(this.further);
      this.further = setTimeout(() => this.isMoving || this.boxes.complete || this.resize(), 0);
    });
  }

  /** The place for the picture may have another size. */
  fit() {
    const { clientWidth: width, clientHeight: height } = this.canvas.parentElement;
    if (this.size !== [width, height, Math.min(3, window.devicePixelRatio || 1)].join()) this.resize();
  }

  /** Draws the same boxes anew. */
  redraw() {
    this.painter.draw(this.boxes, this.scene, this.colours, this.ratio);
    this.#drawOutlines();
  }

  /** Outlines the box of `node`, or of the nearest around it that has one. */
  select(node) {
    this.selected = node;
    this.#drawOutlines();
  }

  /** The same for what is pointed at elsewhere. */
  point(node) {
    this.hovered = node;
    this.#drawOutlines();
  }

  boxOf(node) {
    for (let at = node; at; at = at.parent) {
      const box = this.byNode.get(at);
      if (box) return box.depth === 0 ? null : box;
    }
    return null;
  }

  #drawOutlines() {
    const { over, ratio } = this;
    over.setTransform(1, 0, 0, 1, 0, 0);
    over.clearRect(0, 0, this.outlines.width, this.outlines.height);
    over.setTransform(ratio, 0, 0, ratio, 0, 0);
    const outline = (node, colour, width) => {
      const box = node && this.boxOf(node);
      if (!box) return;
      over.strokeStyle = colour;
      over.lineWidth = width;
      const half = width / 2;
      over.strokeRect(
        box.x0 + half - 1,
        box.y0 + half - 1,
        box.x1 - box.x0 - width + 1.5,
        box.y1 - box.y0 - width + 1.5,
      );
    };
    outline(this.hovered, this.colours.hover, 1.5);
    outline(this.selected, this.colours.outline, 2.5);
  }

  #listen() {
    const { outlines } = this;
    const at = event => boxAt(this.boxes, event.offsetX, event.offsetY);
    outlines.addEventListener('pointermove', event => {
      const box = at(event);
      this.point(box?.node ?? null);
      this.on.hover(box?.node ?? null, event.clientX, event.clientY);
    });
    outlines.addEventListener('pointerleave', () => {
      this.point(null);
      this.on.hover(null, 0, 0);
    });
    outlines.addEventListener('click', event => {
      const box = at(event);
      if (!box) return;
      // The name of a group is a way into it; elsewhere a click selects.
      if (box.isOpen && box.depth > 0 && event.offsetY < box.y0 + HEADER) this.on.open(box.node);
      else this.on.select(box.depth > 0 ? box.node : null);
    });
    outlines.addEventListener('dblclick', event => {
      const box = at(event);
      if (box) this.on.open(this.towards(box));
    });
    let lastWheel = 0;
    outlines.addEventListener(
      'wheel',
      event => {
        if (event.ctrlKey) return;
        event.preventDefault();
        if (event.timeStamp - lastWheel < 350 || Math.abs(event.deltaY) < 4) return;
        lastWheel = event.timeStamp;
        const box = at(event);
        if (event.deltaY > 0) this.on.out();
        else if (box) this.on.open(this.towards(box));
      },
      { passive: false },
    );
  }

  /** The box around `box` that is one level below the root: where zooming towards it leads. */
  towards(box) {
    let top = box;
    while (top.depth > 1) top = top.around;
    return top.node;
  }

  /** The box next to the selected one in a direction; the first if none is selected. */
  neighbour(dx, dy) {
    const from = this.selected && this.boxOf(this.selected);
    const candidates = this.boxes.filter(box => box.depth > 0 && (!from || box.depth === from.depth));
    if (!from) return candidates[0]?.node ?? null;
    const centre = box => [(box.x0 + box.x1) / 2, (box.y0 + box.y1) / 2];
    const [x, y] = centre(from);
    let best = null;
    let bestCost = Infinity;
    for (const box of candidates) {
      const [bx, by] = centre(box);
      const along = (bx - x) * dx + (by - y) * dy;
      const beside = Math.abs((bx - x) * dy) + Math.abs((by - y) * dx);
      if (box === from || along < 1) continue;
      const cost = along + 2.5 * beside;
      if (cost < bestCost) [best, bestCost] = [box, cost];
    }
    return best?.node ?? this.selected;
  }

  #snapshot() {
    const copy = document.createElement('canvas');
    copy.width = this.canvas.width;
    copy.height = this.canvas.height;
    copy.getContext('2d').drawImage(this.canvas, 0, 0);
    return copy;
  }

  // Where in one picture the other is: in the old one when going in, in the new one when coming out.
  #motionRectangle(oldRoot, newRoot) {
    const oldBox = this.byNode.get(newRoot);
    if (oldBox) return { inside: 'old', node: newRoot, box: oldBox };
    for (let at = oldRoot; at; at = at.parent) if (at === newRoot) return { inside: 'new', node: oldRoot };
    return null;
  }

  #animate(oldPicture, target) {
    if (matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const motion = ++this.motion;
    const newPicture = this.#snapshot();
    const box = target.inside === 'old' ? target.box : this.boxOf(target.node);
    if (!box) return;
    const { width, height } = this.canvas;
    const small = [box.x0, box.y0, box.x1 - box.x0, box.y1 - box.y0].map(value => value * this.ratio);
    const context = this.canvas.getContext('2d');
    this.over.clearRect(0, 0, width, height);
    const begin = performance.now();
    const frame = now => {
      if (motion !== this.motion) return;
      const t = Math.min(1, Math.max(0, (now - begin) / ZOOM_MS));
      const eased = t < 0.5 ? 4 * t ** 3 : 1 - (2 - 2 * t) ** 3 / 2;
      const grown = target.inside === 'old' ? eased : 1 - eased;
      // The view goes from the whole to the small rectangle; `outer` is drawn so that the view fills the canvas.
      const view = [0, 0, width, height].map((value, i) => value + (small[i] - value) * grown);
      const [outer, inner] = target.inside === 'old' ? [oldPicture, newPicture] : [newPicture, oldPicture];
      const sx = width / view[2];
      const sy = height / view[3];
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.globalAlpha = 1;
      context.drawImage(outer, -view[0] * sx, -view[1] * sy, width * sx, height * sy);
      context.globalAlpha = grown;
      context.drawImage(
        inner,
        (small[0] - view[0]) * sx,
        (small[1] - view[1]) * sy,
        small[2] * sx,
        small[3] * sy,
      );
      context.globalAlpha = 1;
      this.isMoving = t < 1;
      if (t < 1) requestAnimationFrame(frame);
      else if (this.boxes.complete) this.redraw();
      else this.resize();
    };
    frame(begin);
  }
}
