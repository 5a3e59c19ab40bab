// SPDX-License-Identifier: MIT
// Tables: trees of rows with numbers.
import type { Table } from './trace';

// A row, the rows below it, and how deep it is.
export interface TableRow {
  row: number; // in the table
  depth: number;
  rows: TableRow[];
}

export function treeOf(table: Table): TableRow[] {
  const roots: TableRow[] = [];
  const above: TableRow[] = [];
  table.level.forEach((depth, row) => {
    const made: TableRow = { row, depth, rows: [] };
    (depth === 0 ? roots : above[depth - 1]!.rows).push(made);
    above[depth] = made;
  });
  return roots;
}

export const byName = -1;
export const asGiven = -2; // in the order of the rows of the table

const known = (value: number) => (Number.isNaN(value) ? -Number.MAX_VALUE : value);

// column: names are in alphabetic order, numbers begin with the largest, and end with those that are not available.
export function sortTree(table: Table, rows: TableRow[], column: number): void {
  const names = new Intl.Collator('en', { numeric: true });
  const name = (row: TableRow) => table.name[row.row]!;
  const cells = table.cells[column];
  const order = (a: TableRow, b: TableRow) => (cells ? known(cells[b.row]!) - known(cells[a.row]!) : column === byName ? names.compare(name(a), name(b)) : 0);
  rows.sort((a, b) => order(a, b) || a.row - b.row);
  for (const { rows: below } of rows) sortTree(table, below, column);
}

// The rows whose callers are open, or that fit a search or have rows below that do; at most `most` of them.
export function shownRows(table: Table, rows: readonly TableRow[], open: ReadonlySet<TableRow>, search: string, most: number): TableRow[] {
  const wanted = search.toLowerCase();
  const found = new Map<TableRow, boolean>();
  const fits = (row: TableRow): boolean => {
    const known = found.get(row);
    if (known !== undefined) return known;
    const own = table.name[row.row]!.toLowerCase().includes(wanted);
    const any = row.rows.map(fits).includes(true) || own;
    found.set(row, any);
    return any;
  };
  const shown: TableRow[] = [];
  const add = (row: TableRow) => {
    if (shown.length >= most || (wanted !== '' && !fits(row))) return;
    shown.push(row);
    if (wanted !== '' || open.has(row)) row.rows.forEach(add);
  };
  rows.forEach(add);
  return shown;
}
