// SPDX-License-Identifier: MIT
// The reports as a table of rows that open and close.
import { button, element } from './dom';
import { count, duration, percent, seconds } from './format';
import { isOfCode, levels, makeRows, sortRows, visibleRows, type Level, type Order, type Row, type Shown } from './rows';
import type { State } from './state';
import { emptyText } from './summary_view';
import type { Totals } from './totals';

const rowHeight = 26;
const mostPrinted = 2000;

export class TreeView {
  readonly box = element('section', { class: 'tree', 'aria-label': 'Functions' });
  private readonly controls = element('div', { class: 'controls', role: 'group', 'aria-label': 'Levels' });
  private readonly note = element('p', { class: 'empty' });
  private readonly times = element('p', { class: 'muted' });
  private readonly head = element('div', { class: 'row head', role: 'row' });
  private readonly scroller = element('div', { class: 'scroller', role: 'treegrid', tabindex: '0', 'aria-label': 'Ticks by process, thread, module, symbol, line and instruction' });
  private readonly space = element('div', { class: 'space', role: 'rowgroup' });
  private readonly chosen = new Set<Level>(['process', 'module', 'symbol', 'line', 'instruction']);
  private order: Order = 'ticks';
  private rows: Row[] = [];
  private open = new Set<Row>();
  private list: Shown[] = [];
  private cursor = 0;
  private made: object | null = null; // the sums from which the rows were made

  constructor(private readonly state: State) {
    for (const level of this.offered()) {
      const box = element('input', { type: 'checkbox', name: level });
      box.checked = this.chosen.has(level);
      box.addEventListener('change', () => {
        if (box.checked) this.chosen.add(level);
        else this.chosen.delete(level);
        this.made = null;
        this.render();
      });
      this.controls.append(element('label', {}, box, ` ${level}`));
    }
    this.controls.append(button('Open all', {}, () => this.openAll(true)), button('Close all', {}, () => this.openAll(false)));
    this.scroller.append(this.space);
    this.box.append(this.controls, this.times, this.note, this.head, this.scroller);
    this.scroller.addEventListener('scroll', () => this.draw());
    this.scroller.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
  }

  private offered(): Level[] {
    return levels.filter((level) => this.state.trace.code !== null || !isOfCode(level));
  }

  private wanted(): Level[] {
    return this.offered().filter((level) => this.chosen.has(level));
  }

  private sums(): Totals {
    return this.wanted().some(isOfCode) ? this.state.codeTotals() : this.state.totals();
  }

  // Lines are known for longer stretches of time than functions.
  private timesText(): string {
    const { state } = this;
    const { trace } = state;
    const { from, to } = state.codeSelection();
    if (!this.wanted().some(isOfCode) || (from === state.from && to === state.to)) return '';
    const time = (bin: number) => seconds(trace.firstBinNs + bin * trace.binNs, trace.binNs);
    return `Lines and instructions are known by stretches of ${duration(trace.code!.bins * trace.binNs)}: the table is about ${time(from)} to ${time(to)}.`;
  }

  private openAll(all: boolean): void {
    this.open.clear();
    const add = (row: Row) => {
      if (row.rows.length) this.open.add(row);
      row.rows.forEach(add);
    };
    if (all) this.rows.forEach(add);
    this.update();
  }

  render(): void {
    const sums = this.sums();
    if (this.made !== sums) {
      this.made = sums;
      const names = new Set([...this.open].map(pathOf));
      this.rows = makeRows(this.state.trace, sums, this.wanted(), this.state.codeSelection());
      link(this.rows, '');
      sortRows(this.rows, this.order);
      this.open = new Set();
      const reopen = (row: Row) => {
        if (names.has(pathOf(row))) this.open.add(row);
        row.rows.forEach(reopen);
      };
      this.rows.forEach(reopen);
      if (names.size === 0 && this.rows[0]?.rows.length) this.open.add(this.rows[0]);
      this.cursor = 0;
    }
    this.update();
  }

  private update(): void {
    this.list = visibleRows(this.rows, this.open, this.state.search);
    this.cursor = Math.min(this.cursor, Math.max(0, this.list.length - 1));
    const none =
      this.chosen.size === 0
        ? 'Choose at least one level.'
        : this.rows.length === 0
          ? emptyText(this.state)
          : this.list.length === 0
            ? `Nothing is called "${this.state.search}".`
            : '';
    this.times.textContent = this.timesText();
    this.times.hidden = this.times.textContent === '';
    this.note.textContent = none;
    this.note.hidden = none === '';
    this.scroller.hidden = this.head.hidden = none !== '';
    this.drawHead();
    this.space.style.height = `${this.list.length * rowHeight}px`;
    this.scroller.setAttribute('aria-rowcount', String(this.list.length));
    this.draw();
  }

  private drawHead(): void {
    const column = (text: string, order: Order, type: string) =>
      element(
        'span',
        { class: type, role: 'columnheader', 'aria-sort': this.order === order ? (order === 'ticks' ? 'descending' : 'ascending') : 'none' },
        button(`${text}${this.order === order ? (order === 'ticks' ? ' ▾' : ' ▴') : ''}`, {}, () => {
          this.order = order;
          sortRows(this.rows, order);
          this.update();
        }),
      );
    this.head.replaceChildren(
      column('Ticks', 'ticks', 'number'),
      element('span', { class: 'number share', role: 'columnheader' }, '%'),
      column('Name', 'name', 'name'),
    );
  }

  // Makes the elements of the rows that can be seen.
  private draw(): void {
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 4);
    const end = Math.min(this.list.length, first + Math.ceil(this.scroller.clientHeight / rowHeight) + 8);
    const rows: HTMLElement[] = [];
    for (let place = first; place < end; ++place) rows.push(this.makeRow(place));
    this.space.replaceChildren(...rows);
  }

  // The rows that are open, for printing.
  drawAll(): void {
    const rows = this.list.slice(0, mostPrinted).map((_, place) => this.makeRow(place));
    if (this.list.length > mostPrinted)
      rows.push(element('p', { class: 'muted' }, `${count(this.list.length - mostPrinted)} more rows are open and not printed.`));
    this.space.replaceChildren(...rows);
  }

  private makeRow(place: number): HTMLElement {
    const { row, depth } = this.list[place]!;
    const all = this.sums().total;
    const opens = row.rows.length !== 0;
    const isOpen = place + 1 < this.list.length && this.list[place + 1]!.depth > depth;
    const name = element('span', { class: 'name', role: 'gridcell' });
    name.style.paddingLeft = `${depth * 18}px`;
    name.append(element('span', { class: 'mark', 'aria-hidden': 'true' }, opens ? (isOpen ? '▾' : '▸') : ''), element('bdi', { class: row.level, title: this.titleOf(row) }, row.name));
    if (row.source !== '') name.append(element('bdi', { class: 'source' }, row.source));
    const bar = element('span', { class: 'bar', 'aria-hidden': 'true' });
    bar.style.width = `${(100 * row.ticks) / all}%`;
    const share = element('span', { class: 'number share', role: 'gridcell' }, bar, element('span', {}, percent(row.ticks, all)));
    const made = element('div', { class: 'row', role: 'row', 'aria-level': String(depth + 1), 'aria-rowindex': String(place + 1) });
    made.append(element('span', { class: 'number', role: 'gridcell' }, count(row.ticks)), share, name);
    const text = row.level === 'symbol' ? 'callers' : row.level === 'process' || row.level === 'thread' ? 'only' : '';
    if (text) made.append(button(text, { class: 'act', tabindex: '-1', 'aria-label': text === 'only' ? `Show only ${row.name}` : `Callers and callees of ${row.name}` }, () => this.act(row)));
    if (opens) made.setAttribute('aria-expanded', String(isOpen));
    if (place === this.cursor) made.classList.add('cursor');
    made.style.top = `${place * rowHeight}px`;
    made.addEventListener('click', (event) => {
      if ((event.target as Element).closest('.act')) return;
      this.cursor = place;
      this.toggle(row);
    });
    return made;
  }

  private titleOf(row: Row): string {
    const { code, names } = this.state.trace;
    if (row.level !== 'line' || row.id < 0 || !code) return row.name;
    return `${names[code.lineFile[row.id]!]!}:${code.lineNumber[row.id]}`;
  }

  private act(row: Row): void {
    if (row.level === 'symbol') this.state.set({ tab: 'flame', flame: 'ticks', sandwich: row.id });
    else this.state.set({ scope: `${row.level} ${row.id}` });
  }

  private toggle(row: Row, open = !this.open.has(row)): void {
    if (open && row.rows.length) this.open.add(row);
    else this.open.delete(row);
    this.update();
  }

  private moveTo(place: number): void {
    this.cursor = Math.max(0, Math.min(this.list.length - 1, place));
    const top = this.cursor * rowHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    if (top + rowHeight > this.scroller.scrollTop + this.scroller.clientHeight)
      this.scroller.scrollTop = top + rowHeight - this.scroller.clientHeight;
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const at = this.list[this.cursor];
    if (!at || event.ctrlKey || event.altKey || event.metaKey) return;
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / rowHeight) - 1);
    const keys: Record<string, () => void> = {
      ArrowDown: () => this.moveTo(this.cursor + 1),
      ArrowUp: () => this.moveTo(this.cursor - 1),
      PageDown: () => this.moveTo(this.cursor + page),
      PageUp: () => this.moveTo(this.cursor - page),
      Home: () => this.moveTo(0),
      End: () => this.moveTo(this.list.length - 1),
      ArrowRight: () => (this.open.has(at.row) ? this.moveTo(this.cursor + 1) : this.toggle(at.row, true)),
      ArrowLeft: () => (this.open.has(at.row) ? this.toggle(at.row, false) : at.above >= 0 && this.moveTo(at.above)),
      ' ': () => this.toggle(at.row),
      Enter: () => (at.row.level === 'module' || isOfCode(at.row.level) ? this.toggle(at.row) : this.act(at.row)),
    };
    const call = keys[event.key];
    if (!call) return;
    event.preventDefault();
    event.stopPropagation();
    call();
  }
}

// The names on the way to a row identify it when the rows are made again.
const paths = new WeakMap<Row, string>();

function link(rows: Row[], above: string): void {
  for (const row of rows) {
    const path = `${above}\n${row.level} ${row.name}`;
    paths.set(row, path);
    link(row.rows, path);
  }
}

function pathOf(row: Row): string {
  return paths.get(row) ?? '';
}
