// What the pointer is over: name, where it is, size.

import { h } from '../dom.js';
import { bytes, change, exact, percent, plural, shown } from '../format.js';
import { mainKind } from './paint.js';
import { KIND_NAMES } from '../data/kinds.js';

export class Tooltip {
  constructor(element) {
    this.element = element;
  }

  /** Shows what `node` is next to a point of the window; hides if there is none. */
  show(node, scene, x, y) {
    const { element } = this;
    if (!node || !node.parent) {
      element.hidden = true;
      return;
    }
    if (this.node !== node || this.scene !== scene) element.replaceChildren(...this.#contents(node, scene));
    [this.node, this.scene] = [node, scene];
    element.hidden = false;
    const { offsetWidth: width, offsetHeight: height } = element;
    const left = x + 16 + width > innerWidth ? x - width - 12 : x + 16;
    const top = y + 18 + height > innerHeight ? y - height - 12 : y + 18;
    element.style.transform = `translate(${Math.max(4, left)}px, ${Math.max(4, top)}px)`;
  }

  #contents(node, scene) {
    const around = node.ancestors
      .slice(1, -1)
      .map(at => shown(at.label, 80))
      .join(' › ');
    const whole = node.tree.root.value;
    const lines = [h('div', { class: 'tip-name' }, h('bdi', {}, shown(node.label, 360)))];
    if (around) lines.push(h('div', { class: 'tip-where' }, h('bdi', {}, around)));
    if (scene.compares) {
      const [before, after] = [node.sum(scene.oldSize), node.sum(scene.size)];
      lines.push(h('div', {}, `${bytes(before)} → ${bytes(after)} (${change(after - before)})`));
    } else {
      lines.push(
        h(
          'div',
          {},
          `${bytes(node.value)}${node.value < 1000 ? '' : ` · ${exact(node.value)} bytes`} · ${percent(node.value, whole)}`,
        ),
      );
    }
    const pieces = node.count > 1 ? ` · ${plural(node.count, 'piece')}` : '';
    lines.push(h('div', { class: 'tip-where' }, `${KIND_NAMES[mainKind(node, scene)]}${pieces}`));
    return lines;
  }
}
