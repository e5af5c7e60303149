// What is around the picture: choices, search, the way to the shown node, sums, legend, savings.

import { h, byId } from '../dom.js';
import { baseName, bytes, change, exact, percent, plural, shown } from '../format.js';
import { KIND, KIND_NAMES } from '../data/kinds.js';
import { fillHelp } from '../help.js';
import { fillLibraries } from './libraries.js';
import { coloursOf } from './colours.js';

const TYPING_MS = 120;

export class Frame {
  constructor(app) {
    this.app = app;
    const { model } = app;
    const { meta } = model;
    const output = String(meta.output ?? '');
    document.title = `${shown(baseName(output), 100)} – weld explorer`;
    byId('output').textContent = shown(baseName(output), 200);
    byId('output').title = shown(output, 600);
    byId('subtitle').textContent = [
      String(meta.kind ?? '').toUpperCase(),
      meta.machine,
      bytes(meta.file_size),
      meta.old ? `compared with ${shown(baseName(String(meta.old.output)), 100)}` : '',
    ]
      .filter(Boolean)
      .join(' · ');
    fillHelp(byId('help'), shown(String(meta.weld ?? '')));
    this.#fillChoices();
    this.#listen();
    this.#savings();
  }

  #fillChoices() {
    const { app } = this;
    byId('by').replaceChildren(
      ...app.groupings.map(({ id, name, hint }) => h('option', { value: id, title: hint }, name)),
    );
    if (app.model.compares) byId('size').append(h('option', { value: 'change' }, 'of the change'));
    byId('debug-field').hidden = !app.model.kind.includes(KIND.debug);
  }

  #listen() {
    const { app } = this;
    for (const id of ['by', 'size', 'debug']) {
      byId(id).addEventListener('change', event => app.update({ [id]: event.target.value }));
    }
    let timer = 0;
    byId('find').addEventListener('input', event => {
      clearTimeout(timer);
      timer = setTimeout(() => app.update({ find: event.target.value }), TYPING_MS);
    });
    byId('regex').addEventListener('click', () => app.update({ regex: !app.state.regex }));
    byId('theme').addEventListener('click', () => app.switchTheme());
    byId('side').addEventListener('click', () => this.toggleSide());
    byId('help-button').addEventListener('click', () => byId('help').showModal());
    byId('libraries-button').addEventListener('click', () => this.showLibraries());
    byId('libraries').addEventListener('click', event => {
      if (event.target.closest('.link')) byId('libraries').close();
    });
    byId('tab-groups').addEventListener('click', () => app.update({ tab: 'groups' }));
    byId('tab-pieces').addEventListener('click', () => app.update({ tab: 'pieces' }));
  }

  /** Shows what the state is. */
  render() {
    const { app } = this;
    const { state } = app;
    for (const id of ['by', 'size', 'debug']) byId(id).value = state[id];
    const find = byId('find');
    if (find.value !== state.find && (document.activeElement !== find || !state.find))
      find.value = state.find;
    byId('regex').setAttribute('aria-pressed', String(state.regex));
    byId('tab-groups').setAttribute('aria-selected', String(state.tab === 'groups'));
    byId('tab-pieces').setAttribute('aria-selected', String(state.tab === 'pieces'));
    this.#crumbs();
    this.#total();
    this.#legend();
  }

  #crumbs() {
    const { app } = this;
    const parts = app.node.ancestors.flatMap((node, i) => [
      i > 0 ? h('span', { class: 'step', 'aria-hidden': 'true' }, '›') : null,
      h(
        'button',
        {
          type: 'button',
          title: shown(node.label, 500),
          'aria-current': node === app.node ? 'location' : null,
          onclick: () => app.open(node),
        },
        h('bdi', {}, shown(node.label, 200)),
      ),
    ]);
    byId('crumbs').replaceChildren(...parts.filter(Boolean));
  }

  #total() {
    const { app } = this;
    const { totals, scene, model, state } = app;
    const strong = text => h('strong', {}, text);
    const what = state.size === 'memory' ? 'memory' : 'file';
    const parts = [];
    if (app.node.parent) {
      const node = app.node.sum(scene.size);
      parts.push(strong(bytes(node)), ` here (${percent(node, totals.all)} of the ${what}) · `);
    }
    if (scene.compares) {
      parts.push(
        `${bytes(totals.oldAll)} → `,
        strong(bytes(totals.all)),
        ' ',
        h(
          'span',
          { class: totals.all > totals.oldAll ? 'grew' : 'shrank' },
          change(totals.all - totals.oldAll),
        ),
      );
      const apart = totals.all - totals.shown - (totals.oldAll - totals.oldShown);
      if (apart !== 0) parts.push(`, of it ${change(apart)} not shown`);
    } else if (totals.shown === totals.all) {
      parts.push(strong(bytes(totals.all)), ` in ${what}`);
    } else {
      parts.push(
        strong(bytes(totals.shown)),
        ` + ${bytes(totals.all - totals.shown)} `,
        state.debug === 'only' ? 'other' : 'debug information',
        ` = ${bytes(totals.all)} ${what}`,
      );
    }
    const element = byId('total');
    element.replaceChildren(...parts);
    element.title = `${exact(totals.shown)} + ${exact(totals.all - totals.shown)} = ${exact(totals.all)} bytes in ${plural(model.pieces, 'piece')}`;
    element.dataset.shown = totals.shown;
    element.dataset.all = totals.all;
    this.#checkSum(state, totals, model.meta);
  }

  #checkSum(state, totals, meta) {
    if (state.size === 'memory' || totals.all === meta.file_size) return;
    this.warn(
      `The pieces are ${exact(totals.all)} bytes together, the file has ${exact(meta.file_size)}: ` +
        'this page is wrong, please report it.',
    );
  }

  /** Shows a warning above the picture. */
  warn(text) {
    const warning = byId('warning');
    warning.textContent = text;
    warning.hidden = false;
  }

  #legend() {
    const { app } = this;
    const colours = coloursOf(document.documentElement.dataset.theme);
    const entry = (colour, text) => {
      const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
      dot.style.background = colour;
      return h('span', {}, dot, text);
    };
    if (app.model.compares) {
      const [less, , gone] = colours.shrank;
      const [more, , fresh] = colours.grew;
      byId('legend').replaceChildren(
        entry(gone, 'gone or much smaller'),
        entry(colours.shrank[1], 'smaller'),
        entry(less, 'a little smaller'),
        entry(colours.same, 'same'),
        entry(more, 'a little larger'),
        entry(colours.grew[1], 'larger'),
        entry(fresh, 'new or much larger'),
      );
      return;
    }
    const sums = this.#kindSums();
    byId('legend').replaceChildren(
      ...KIND_NAMES.map((name, kind) =>
        sums[kind] ? entry(colours.kinds[kind], `${name} ${bytes(sums[kind])}`) : null,
      ).filter(Boolean),
    );
  }

  #kindSums() {
    const { scene, model } = this.app;
    if (this.sumsOf !== scene) {
      this.sums = new Float64Array(KIND_NAMES.length);
      for (let piece = 0; piece < model.pieces; piece++)
        if (scene.shows(piece)) this.sums[scene.kind[piece]] += scene.size[piece];
      this.sumsOf = scene;
    }
    return this.sums;
  }

  #savings() {
    const words = {
      comdat: 'COMDAT groups',
      icf: 'identical code folding',
      merged_strings: 'merged strings',
    };
    const savings = this.app.model.meta.savings ?? {};
    const parts = Object.entries(words)
      .filter(([key]) => savings[key] > 0)
      .map(([key, name]) => `${name} ${bytes(savings[key])}`);
    byId('savings').textContent = parts.length > 0 ? `Left out by the linker: ${parts.join(', ')}` : '';
  }

  /** The search has ended: tells what it has found. */
  searchDone() {
    const { scene, tree } = this.app;
    byId('find').parentElement.classList.remove('wrong');
    const output = byId('found');
    if (!scene.found) {
      output.textContent = '';
      return;
    }
    let [count, sum] = [0, 0];
    for (const piece of tree.order) {
      if (!scene.found[piece]) continue;
      count++;
      sum += scene.size[piece];
    }
    output.textContent =
      count === 0
        ? 'nothing found'
        : `${plural(count, 'piece')} · ${bytes(sum)} · ${percent(sum, this.app.totals.all)}`;
    output.dataset.count = count;
    output.dataset.sum = sum;
  }

  /** What was typed is no regular expression. */
  searchFailed(error) {
    byId('find').parentElement.classList.add('wrong');
    byId('found').textContent = shown(error.message, 120);
  }

  /** The table of libraries has been read. */
  offerLibraries() {
    byId('libraries-button').hidden = !this.app.libraries.known;
  }

  /** Opens the dialogue of shared libraries, if it is known which the file needs. */
  showLibraries() {
    if (byId('libraries-button').hidden) return;
    const dialog = byId('libraries');
    const { libraries, details } = this.app;
    if (!dialog.hasChildNodes()) fillLibraries(dialog, libraries, at => details.reasons.link(at));
    dialog.showModal();
  }

  clearSearch() {
    byId('find').value = '';
    this.app.update({ find: '' });
  }

  /** Shows or hides table and details. */
  toggleSide() {
    const panel = byId('panel');
    panel.hidden = !panel.hidden;
    byId('side').setAttribute('aria-pressed', String(!panel.hidden));
  }
}
