// The table beside the picture: as many rows as there are, of which only those in sight are elements.

import { h } from '../dom.js';
import { bytes, change, exact, percent, shown } from '../format.js';

const ROW = 26;
// Browsers do not scroll further than some ten million pixels.
const MOST_ROWS = 400000;

export class Table {
  /** `on` has `sort(column)`, `pick(row)`, `open(row)`, `point(row or -1)`. */
  constructor(element, on) {
    this.on = on;
    this.element = element;
    this.head = h('div', { class: 'table-head', role: 'row', 'aria-rowindex': '1' });
    this.body = h('div', { class: 'table-body', role: 'rowgroup' });
    this.scroller = h(
      'div',
      { class: 'table-scroll', role: 'presentation', tabindex: '0', 'aria-label': 'Rows' },
      this.body,
    );
    this.note = h('div', { class: 'table-note', hidden: true });
    element.replaceChildren(this.head, this.scroller, this.note);
    this.rows = null;
    this.selected = -1;
    this.scroller.addEventListener('scroll', () => this.#fill());
    this.scroller.addEventListener('keydown', event => this.#key(event));
    this.body.addEventListener('pointerleave', () => on.point(-1));
  }

  /** Shows `rows`, sorted; `columns` are `{ id, name }`; `whole` is what shares are of. */
  show(rows, { columns, sort, down, whole, swatch }) {
    const changed = this.rows !== rows;
    this.rows = rows;
    this.columns = columns;
    this.whole = whole;
    this.swatch = swatch;
    this.largest = 0;
    for (const row of rows.shown) this.largest = Math.max(this.largest, Math.abs(this.#main(row)));
    this.element.dataset.columns = columns.length;
    this.head.replaceChildren(
      ...columns.map(({ id, name }) => {
        const order = sort === id ? (down ? 'descending' : 'ascending') : 'none';
        return h(
          'div',
          { role: 'columnheader', 'aria-sort': order, class: `cell cell-${id}` },
          h(
            'button',
            { type: 'button', onclick: () => this.on.sort(id) },
            name,
            h(
              'span',
              { class: 'sort-mark', 'aria-hidden': 'true' },
              order === 'none' ? '' : down ? ' ▾' : ' ▴',
            ),
          ),
        );
      }),
    );
    const count = Math.min(rows.length, MOST_ROWS);
    this.element.setAttribute('aria-rowcount', String(rows.length + 1));
    this.body.style.height = `${count * ROW}px`;
    this.note.hidden = rows.length > 0 && rows.length <= MOST_ROWS;
    this.note.textContent =
      rows.length === 0 ? 'Nothing here.' : `The first ${exact(MOST_ROWS)} of ${exact(rows.length)} rows.`;
    if (changed) this.scroller.scrollTop = 0;
    this.#fill(true);
  }

  // What the bars show.
  #main(row) {
    return this.columns.some(({ id }) => id === 'delta') ? this.rows.delta(row) : this.rows.size[row];
  }

  /** Marks `row`, and brings it into sight if `scrolls`. */
  select(row, scrolls = false) {
    this.selected = row;
    if (scrolls && row >= 0) {
      const top = this.rows.shown.indexOf(row) * ROW;
      const { scrollTop, clientHeight } = this.scroller;
      if (top >= 0 && (top < scrollTop || top + ROW > scrollTop + clientHeight))
        this.scroller.scrollTop = top - clientHeight / 3;
    }
    this.#fill(true);
  }

  #fill(anew = false) {
    if (!this.rows) return;
    const { scrollTop, clientHeight } = this.scroller;
    const count = Math.min(this.rows.length, MOST_ROWS);
    const first = Math.max(0, Math.floor(scrollTop / ROW) - 6);
    const last = Math.min(count, Math.ceil((scrollTop + clientHeight) / ROW) + 6);
    if (!anew && first === this.first && last === this.last) return;
    [this.first, this.last] = [first, last];
    const elements = [];
    for (let place = first; place < last; place++) elements.push(this.#row(place));
    this.body.replaceChildren(...elements);
    this.head.style.marginRight = `${this.scroller.offsetWidth - this.scroller.clientWidth}px`;
  }

  #row(place) {
    const { rows } = this;
    const row = rows.shown[place];
    const selected = row === this.selected;
    const element = h(
      'div',
      {
        class: `row${selected ? ' selected' : ''}`,
        role: 'row',
        'aria-rowindex': place + 2,
        'aria-selected': selected ? 'true' : 'false',
        onclick: () => this.on.pick(row),
        ondblclick: () => this.on.open(row),
        onpointerenter: () => this.on.point(row),
      },
      this.columns.map(({ id }) => this.#cell(id, row)),
    );
    element.style.transform = `translateY(${place * ROW}px)`;
    return element;
  }

  #cell(id, row) {
    const { rows, on } = this;
    const cell = (...children) => h('div', { role: 'gridcell', class: `cell cell-${id}` }, ...children);
    if (id === 'name') {
      const name = shown(rows.entries.name(row), 400);
      const dot = h('span', { class: 'dot', 'aria-hidden': 'true' });
      dot.style.background = this.swatch(row);
      const text = rows.entries.isGroup(row)
        ? h(
            'button',
            {
              type: 'button',
              class: 'group-name',
              tabindex: '-1',
              onclick: event => (event.stopPropagation(), on.open(row)),
            },
            h('bdi', {}, name),
          )
        : h('bdi', {}, name);
      const element = cell(dot, h('span', { class: 'row-name', title: name }, text));
      return element;
    }
    if (id === 'count') return cell(exact(rows.count[row]));
    if (id === 'share') return this.#share(row, cell);
    const value = id === 'delta' ? rows.delta(row) : rows[id][row];
    const element = cell(id === 'delta' ? change(value) : bytes(value));
    element.title = `${exact(value)} bytes`;
    if (id === 'delta' && value !== 0) element.classList.add(value > 0 ? 'grew' : 'shrank');
    return element;
  }

  #share(row, cell) {
    const bar = h('span', { class: 'share-bar', 'aria-hidden': 'true' });
    bar.style.width = `${this.largest ? (100 * Math.abs(this.#main(row))) / this.largest : 0}%`;
    return cell(bar, h('span', { class: 'bar-text' }, percent(this.rows.size[row], this.whole)));
  }

  #key(event) {
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 15, PageUp: -15, Home: -1e9, End: 1e9 }[event.key];
    const { shown } = this.rows;
    const place = shown.indexOf(this.selected);
    if (step !== undefined) {
      const next = Math.min(shown.length - 1, Math.max(0, place < 0 ? 0 : place + step));
      if (shown.length > 0) this.on.pick(shown[next]);
    } else if (event.key === 'Enter' && place >= 0) this.on.open(this.selected);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
