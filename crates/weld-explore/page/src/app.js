// The application: one state, and what is shown follows from it.
//
// Everything that a user does changes the state (state.js) by `update`; what depends on the changed parts is made
// anew: scene → tree → node → picture, table, details. The state is kept in the page's address.

import { readHash, writeHash } from './state.js';
import { GROUPINGS } from './group/groupings.js';
import { Tree, pathOf } from './group/tree.js';
import { Libraries } from './graph/libraries.js';
import { Why } from './graph/why.js';
import { makeScene, totals } from './scene.js';
import { parseQuery, search } from './search.js';
import { Picture } from './view/picture.js';
import { Table } from './view/table.js';
import { childRows, pieceRows } from './view/rows.js';
import { Details, spoken } from './view/details.js';
import { Tooltip } from './view/tooltip.js';
import { Frame } from './view/frame.js';
import { coloursOf, changeColour } from './view/colours.js';
import { leafColour } from './view/paint.js';
import { listenToKeys } from './keys.js';
import { byId } from './dom.js';
import { baseName, shown } from './format.js';
import { KIND } from './data/kinds.js';

const ADDRESS_MS = 150;

export class App {
  constructor(model) {
    this.model = model;
    this.why = new Why(model);
    this.libraries = new Libraries(model);
    this.groupings = GROUPINGS.filter(grouping => grouping.known(model));
    this.state = readHash(location.hash);
    this.frame = new Frame(this);
    this.tooltip = new Tooltip(byId('tooltip'));
    this.selected = null;
    this.searchTurn = 0;
  }

  /** Builds the views and shows what the address tells of. */
  begin() {
    const { model } = this;
    this.picture = new Picture({
      canvas: byId('canvas'),
      outlines: byId('outlines'),
      on: {
        open: node => this.open(node),
        out: () => this.out(),
        select: node => this.select(node),
        hover: (node, x, y) => this.tooltip.show(node, this.scene, x, y),
      },
    });
    this.table = new Table(byId('table'), {
      sort: column =>
        this.update({
          sort: column,
          down: this.state.sort === column ? !this.state.down : column !== 'name',
        }),
      pick: row => this.pickRow(row),
      open: row => this.openRow(row),
      point: row => this.picture.point(row < 0 ? null : this.rowNode(row)),
    });
    this.details = new Details(byId('details'), this, {
      piece: piece => this.showPiece(piece),
      close: () => this.select(null),
    });
    this.#settle();
    this.#makeScene();
    this.#makeTree();
    this.#render();
    listenToKeys(this);
    let frame = 0;
    new ResizeObserver(() => {
      cancelAnimationFrame(frame);
      frame = requestAnimationFrame(() => this.picture.fit());
    }).observe(byId('picture'));
    window.addEventListener('hashchange', () => {
      if (location.hash === this.hash) return;
      clearTimeout(this.addressTimer);
      this.update(readHash(location.hash), { fromAddress: true });
    });
    if (this.state.find) this.#search();
  }

  /** All data has arrived. */
  complete() {
    this.why.isComplete = true;
    this.frame.offerLibraries();
    if (!this.selected) this.#selectByState();
    else this.details.show(this.selected, this.scene, this.colours);
  }

  // Selects what the address tells of.
  #selectByState() {
    const { piece, group } = this.state;
    if (piece >= 0) return this.showPiece(piece, false);
    const node = this.tree.find(group);
    return this.select(group.length > 0 && pathOf(node).join('\0') === group.join('\0') ? node : null);
  }

  /** What is not needed for the picture cannot be read. */
  damaged(why) {
    this.why.damage = why;
    this.frame.warn(`The references in this page are damaged: ${why}.`);
    if (this.selected) this.details.show(this.selected, this.scene, this.colours);
  }

  // Replaces what makes no sense in this page.
  #settle() {
    const { state } = this;
    const one = (value, allowed) => (allowed.includes(value) ? value : allowed[0]);
    state.by = one(
      state.by,
      this.groupings.map(grouping => grouping.id),
    );
    state.size = one(state.size, this.model.compares ? ['file', 'memory', 'change'] : ['file', 'memory']);
    state.debug = one(state.debug, ['without', 'with', 'only']);
    state.tab = one(state.tab, ['groups', 'pieces']);
    state.sort = one(state.sort, ['size', 'name', 'count', 'old', 'delta']);
  }

  /** Changes parts of the state and shows what follows from it. `moves`: with a moving picture. */
  update(changes, { moves = false, fromAddress = false } = {}) {
    const before = this.state;
    this.state = { ...before, ...changes };
    this.#settle();
    const differs = (...keys) => keys.some(key => String(before[key]) !== String(this.state[key]));
    if (differs('size', 'debug')) this.#makeScene();
    if (differs('size', 'debug', 'by')) {
      if (!changes.group) this.state.group = [];
      if (!changes.path) this.state.path = differs('by') ? (this.#grouping().begin ?? []) : [];
      this.#makeTree();
    }
    if (differs('find', 'regex')) this.#search();
    const goes = differs('by', 'path', 'size', 'debug');
    this.#render({ moves: moves && !differs('size', 'debug', 'by') });
    if (fromAddress && differs('piece', 'group')) this.#selectByState();
    if (!fromAddress) this.#writeAddress(goes);
  }

  // Going somewhere is a step that "back" undoes; the rest is not, and is written when it has settled, since
  // browsers let pages change their address only so often.
  #writeAddress(isPlace) {
    clearTimeout(this.addressTimer);
    const write = () => {
      this.hash = writeHash(this.state);
      if (this.hash === location.hash || (this.hash === '#' && location.hash === '')) return;
      if (isPlace) location.hash = this.hash;
      else location.replace(this.hash);
    };
    if (isPlace) write();
    else this.addressTimer = setTimeout(write, ADDRESS_MS);
  }

  #makeScene() {
    const found = this.scene?.found ?? null;
    this.scene = makeScene(this.model, this.state);
    // A file that is nearly all debug information and nothing else has nothing to be apart from.
    if (this.state.debug === 'without' && !this.#hasMore()) this.scene.shows = () => true;
    this.totals = totals(this.model, this.scene);
    this.#setFound(found);
  }

  #hasMore() {
    const { kind, size } = this.scene;
    for (let piece = 0; piece < this.model.pieces; piece++)
      if (size[piece] && kind[piece] !== KIND.debug) return true;
    return false;
  }

  #setFound(found) {
    const { scene } = this;
    scene.found = found;
    scene.foundArea = found && new Float64Array(found.length);
    if (found)
      for (let piece = 0; piece < found.length; piece++)
        if (found[piece]) scene.foundArea[piece] = scene.area[piece];
  }

  #grouping() {
    return this.groupings.find(({ id }) => id === this.state.by);
  }

  #makeTree() {
    this.tree = new Tree(
      this.model,
      this.#grouping(),
      this.scene.area,
      this.scene.shows,
      shown(baseName(String(this.model.meta.output ?? ''))) || 'file',
    );
    const piece = this.selected?.piece ?? -1;
    this.selected = piece >= 0 ? this.tree.locate(piece) : null;
  }

  #render({ moves = false } = {}) {
    this.node = this.tree.find(this.state.path);
    this.state.path = pathOf(this.node);
    this.colours = coloursOf(document.documentElement.dataset.theme);
    byId('empty').hidden = this.tree.order.length > 0;
    this.frame.render();
    this.picture.selected = this.selected;
    this.picture.show(this.node, this.scene, this.colours, moves);
    this.#renderTable();
    this.details.show(this.selected, this.scene, this.colours);
  }

  #renderTable() {
    const { state, node, scene, model } = this;
    const key = [state.tab, state.sort, state.down, scene.found ? this.searchTurn : 0].join();
    if (this.rowsOf !== node || this.rowsKey !== key) {
      this.rows = state.tab === 'pieces' ? pieceRows(node, scene) : childRows(node, scene);
      this.rows.sort(state.sort, state.down);
      [this.rowsOf, this.rowsKey] = [node, key];
    }
    const name = { id: 'name', name: 'Name' };
    const size = { id: 'size', name: scene.found ? 'Found' : model.compares ? 'New' : 'Size' };
    const count = state.tab === 'groups' ? [{ id: 'count', name: 'Pieces' }] : [];
    const columns = model.compares
      ? [name, { id: 'old', name: 'Old' }, size, { id: 'delta', name: 'Change' }, ...count]
      : [name, size, { id: 'share', name: 'Share' }, ...count];
    this.table.show(this.rows, {
      columns,
      sort: state.sort,
      down: state.down,
      whole: node.value,
      swatch: row => this.#swatch(row),
    });
    this.table.select(this.#rowOfSelected(), false);
  }

  #swatch(row) {
    const { scene, colours, model, rows } = this;
    const piece = rows.entries.piece(row);
    if (model.compares) return changeColour(colours, rows.old[row], rows.size[row]);
    return piece >= 0 ? colours.kinds[model.kind[piece]] : leafColour(rows.entries.node(row), scene, colours);
  }

  /** The node of a row of the table; null if the picture has not come that far. */
  rowNode(row) {
    const { entries } = this.rows;
    return entries.node(row);
  }

  pickRow(row) {
    const node = this.rows.entries.node(row) ?? this.tree.locate(this.rows.entries.piece(row));
    this.select(node);
    this.table.select(row, true);
  }

  openRow(row) {
    const node = this.rows.entries.node(row);
    if (node && !node.isLeaf) this.open(node);
    else this.pickRow(row);
  }

  #rowOfSelected() {
    const { selected, rows, node } = this;
    if (!selected) return -1;
    let at = selected;
    if (this.state.tab === 'groups') while (at && at.parent !== node) at = at.parent;
    if (!at) return -1;
    // Rows are in the order of the tree before they are sorted.
    const { lo } = rows.entries;
    const base = this.state.tab === 'groups' ? at.lo : -1;
    for (let row = 0; row + 1 < lo.length; row++) {
      if (base >= 0 ? lo[row] === base : rows.entries.piece(row) === selected.piece) return row;
    }
    return -1;
  }

  /** Makes `node` the whole picture. */
  open(node) {
    if (node.isLeaf) return this.select(node);
    if (node === this.node) return undefined;
    this.tooltip.show(null);
    return this.update({ path: pathOf(node) }, { moves: true });
  }

  /** Goes to the node around that which is shown. */
  out() {
    if (this.node.parent) this.open(this.node.parent);
  }

  /** Selects `node`, or nothing. */
  select(node) {
    this.selected = node;
    this.picture.select(node);
    this.table.select(this.#rowOfSelected(), true);
    this.details.show(node, this.scene, this.colours);
    byId('spoken').textContent = node ? spoken(node) : '';
    this.state.piece = node?.piece ?? -1;
    this.state.group = node && node.piece < 0 ? pathOf(node) : [];
    this.#writeAddress(false);
  }

  /** Selects `piece`, and goes out as far as needed to see it. */
  showPiece(piece, goes = true) {
    if (!(piece >= 0 && piece < this.model.pieces)) return;
    const node = this.tree.locate(piece);
    if (!node) {
      // Not in the picture: without bytes in the file, or debug information. Its details are known all the same.
      this.select(this.tree.outside(piece));
      return;
    }
    if (goes && !node.ancestors.includes(this.node)) {
      let around = this.node;
      while (!node.ancestors.includes(around)) around = around.parent;
      this.open(around);
    }
    this.select(node);
  }

  async #search() {
    const turn = ++this.searchTurn;
    const { find, regex } = this.state;
    let found = null;
    if (parseQuery(find).text) {
      try {
        found = await search(this.model, { text: find, isRegex: regex }, () => turn !== this.searchTurn);
      } catch (error) {
        this.frame.searchFailed(error);
        return;
      }
      if (turn !== this.searchTurn) return;
    }
    this.#setFound(found);
    this.frame.searchDone();
    this.picture.scene = this.scene;
    this.picture.redraw();
    this.rowsOf = null;
    this.#renderTable();
    document.documentElement.dataset.searched = find;
  }

  /** Shows the other theme. */
  switchTheme() {
    const root = document.documentElement;
    root.dataset.theme = root.dataset.theme === 'dark' ? 'light' : 'dark';
    try {
      localStorage.setItem('weld-theme', root.dataset.theme);
    } catch {
      // Pages from files may have no storage.
    }
    this.#render();
  }
}
