// SPDX-License-Identifier: MIT
// Tables, of other programs or of the call flow: the view that shows one of them.
import { button, choice, element } from './dom';
import { amount } from './format';
import type { State } from './state';
import { asGiven, byName, shownRows, sortTree, treeOf, type TableRow } from './tables';
import type { Table } from './trace';

const mostRows = 2000;

export class TablesView {
  readonly box;
  private readonly controls = element('div', { class: 'controls' });
  private readonly facts = element('dl');
  private readonly note = element('p', { class: 'muted' });
  private readonly body = element('table');
  private table: Table;
  private rows: TableRow[] = [];
  private open = new Set<TableRow>();
  private column = byName;
  private readonly ordered = button('', {}, () => this.sort(asGiven));

  constructor(
    private readonly state: State,
    tables: readonly Table[],
    label: string,
  ) {
    this.box = element('section', { class: 'tables', 'aria-label': label });
    this.table = tables[0]!;
    const list = tables.map(({ title, file }, number) => ({ value: String(number), text: file === '' ? title : `${title} (${file})` }));
    const shows = choice('Table', list, (value) => this.use(tables[Number(value)]!));
    shows.box.hidden = tables.length === 1 && this.table.file === '';
    this.controls.append(shows.box, this.ordered, button('Open all', {}, () => this.openAll(true)), button('Close all', {}, () => this.openAll(false)));
    this.box.append(this.controls, this.facts, this.note, element('div', { class: 'wide' }, this.body));
    this.use(this.table);
  }

  private use(table: Table): void {
    this.table = table;
    this.rows = treeOf(table);
    this.facts.replaceChildren(...table.facts.flatMap(({ lead, text }) => [element('dt', {}, lead), element('dd', {}, text)]));
    this.ordered.hidden = table.order === '';
    this.ordered.textContent = `In order of ${table.order}`;
    this.sort(table.order === '' ? table.columns.length - 1 : asGiven);
    this.openAll(false);
    // One row alone, as of a program with one thread, says little.
    if (this.rows.length === 1) this.open.add(this.rows[0]!);
    this.render();
  }

  private sort(column: number): void {
    this.column = column;
    sortTree(this.table, this.rows, column);
    this.render();
  }

  private openAll(all: boolean): void {
    this.open.clear();
    const add = (row: TableRow) => {
      if (row.rows.length) this.open.add(row);
      row.rows.forEach(add);
    };
    if (all) this.rows.forEach(add);
    this.render();
  }

  private toggle(row: TableRow): void {
    if (!this.open.delete(row)) this.open.add(row);
    this.render();
    // The button was made again.
    this.body.querySelector<HTMLElement>(`[data-row="${row.row}"]`)?.focus();
  }

  render(): void {
    const { table } = this;
    const shown = shownRows(table, this.rows, this.open, this.state.search, mostRows + 1);
    const more = shown.length > mostRows;
    if (more) shown.length = mostRows;
    this.ordered.setAttribute('aria-pressed', String(this.column === asGiven));
    this.note.textContent = more ? `The first ${mostRows} rows are shown: close some, or search.` : '';
    const head = (text: string, column: number) =>
      element('th', { scope: 'col', ...(column === this.column ? { 'aria-sort': column === byName ? 'ascending' : 'descending' } : {}) }, button(text, { class: 'quiet' }, () => this.sort(column)));
    const titles = element('tr', {}, head('name', byName), ...table.columns.map(head));
    this.body.replaceChildren(element('thead', {}, titles), element('tbody', {}, ...shown.map((row) => this.rowOf(row))));
  }

  private rowOf(row: TableRow): HTMLElement {
    const { table } = this;
    const name = element('bdi', {}, table.name[row.row]!);
    const cell = element('th', { scope: 'row' });
    const withoutButton = row.rows.length ? 0 : 3;
    cell.style.paddingLeft = `${0.4 + Math.min(row.depth, 60) + withoutButton}em`;
    if (row.rows.length) {
      const isOpen = this.open.has(row);
      const sign = button(isOpen ? '▾' : '▸', { class: 'quiet', 'aria-expanded': String(isOpen), 'data-row': String(row.row) }, () => this.toggle(row));
      cell.append(sign, ' ');
    }
    cell.append(name);
    return element('tr', {}, cell, ...table.cells.map((cells) => element('td', Number.isNaN(cells[row.row]!) ? { title: 'not available' } : {}, amount(cells[row.row]!))));
  }
}
