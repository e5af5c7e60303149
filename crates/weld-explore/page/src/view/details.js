// What is known of the selected node: sizes, kinds, where it is from; why it is there is in reasons.js.

import { h } from '../dom.js';
import { bytes, change, exact, percent, plural, shown } from '../format.js';
import { KIND_NAMES } from '../data/kinds.js';
import { kindSums } from './paint.js';
import { Reasons } from './reasons.js';

export class Details {
  /** `on` has `piece(number)` to select another, `close()`. */
  constructor(element, { model, why, libraries }, on) {
    this.element = element;
    this.model = model;
    this.reasons = new Reasons({ model, why, libraries }, on);
    this.on = on;
  }

  /** Shows `node`; nothing without one. */
  show(node, scene, colours) {
    const { element } = this;
    element.hidden = !node;
    if (!node) return;
    const title = h(
      'div',
      { class: 'details-title' },
      h('h2', {}, h('bdi', {}, shown(node.label, 3000))),
      h(
        'button',
        {
          type: 'button',
          class: 'icon',
          'aria-label': 'Close',
          title: 'Close (Escape)',
          onclick: () => this.on.close(),
        },
        '✕',
      ),
    );
    const section = this.#sectionOf(node);
    element.replaceChildren(
      ...[
        title,
        this.#sizes(node, scene),
        this.#kinds(node, scene, colours),
        section >= 0 ? this.reasons.ofSection(section) : null,
        this.reasons.ofMember(node),
        this.#facts(node, section),
      ].filter(Boolean),
    );
    element.scrollTop = 0;
  }

  #sizes(node, scene) {
    const whole = this.model.meta.file_size;
    const [size, memory] = [node.sum(this.model.size), node.sum(this.model.memory)];
    const lines = [
      [
        'In the file',
        `${bytes(size)} (${size < 1000 ? '' : `${exact(size)} bytes, `}${percent(size, whole)})`,
      ],
    ];
    if (memory !== size) lines.push(['In memory', bytes(memory)]);
    if (scene.compares) {
      const before = node.sum(scene.oldSize);
      const after = node.sum(scene.size);
      lines.unshift(['Change', `${change(after - before)} (${bytes(before)} → ${bytes(after)})`]);
    }
    if (node.count > 1) lines.push(['Pieces', exact(node.count)]);
    return list(lines);
  }

  #kinds(node, scene, colours) {
    if (node.count < 2) return null;
    const sums = kindSums(node, scene);
    const whole = node.value || 1;
    const parts = sums.map((sum, kind) => {
      if (!sum) return null;
      const part = h('span', { title: `${KIND_NAMES[kind]}: ${bytes(sum)}` });
      part.style.width = `${(100 * sum) / whole}%`;
      part.style.background = colours.kinds[kind];
      return part;
    });
    return h('div', { class: 'kinds', role: 'img', 'aria-label': 'kinds of bytes' }, parts);
  }

  #facts(node, section) {
    const { model } = this;
    const { piece } = node;
    if (piece < 0) return null;
    const { tables, names } = model;
    const object = model.object[piece];
    const archive = model.archive[piece];
    const source = names.get(model.source[piece]);
    const instance = names.get(tables.column('pieces.instance')[piece]);
    const language = object ? model.meta.languages?.[tables.column('objects.language')[object - 1]] : '';
    const role = model.role(piece);
    return list([
      [
        'Kind',
        KIND_NAMES[model.kind[piece]] + (role && !['contents', 'padding'].includes(role) ? `, ${role}` : ''),
      ],
      ['Output section', this.#outputSection(model.outputSection[piece])],
      [
        'Input section',
        section < 0 ? 'none: made by the linker, or between sections' : model.sectionName(section + 1),
      ],
      ['Object', object ? model.objectName(object) : 'made by the linker'],
      ['Archive', archive ? model.archiveName(archive) : ''],
      ['Source', source],
      ['Language', language],
      ['Instance of', instance],
    ]);
  }

  #outputSection(id) {
    if (!id) return 'none';
    const address = this.model.tables.addresses('output_sections.address')[id - 1];
    return `${this.model.outputSectionName(id)} at 0x${address.toString(16)}`;
  }

  // The one input section of all pieces of a node; -1 if there are more, or none.
  #sectionOf(node) {
    const { section } = this.model;
    const { order } = node.tree;
    const first = section[order[node.lo]];
    if (node.count > 4096) return -1;
    for (let i = node.lo; i < node.hi; i++) if (section[order[i]] !== first) return -1;
    return first - 1;
  }
}

function list(lines) {
  return h(
    'dl',
    {},
    lines
      .filter(([, value]) => value)
      .map(([name, value]) => [h('dt', {}, name), h('dd', {}, h('bdi', {}, shown(String(value), 1000)))]),
  );
}

/** One line about a node, for the status that screen readers speak. */
export function spoken(node) {
  return `${shown(node.label, 200)}, ${bytes(node.value)}, ${percent(node.value, node.tree.root.value)}${node.count > 1 ? `, ${plural(node.count, 'piece')}` : ''}`;
}
