// SPDX-License-Identifier: MIT
// The reports as a tree of rows: ticks by process, thread, module and symbol, or by some of these levels.
import { moduleText, processText, symbolText, threadText, type Trace } from './trace';
import type { Totals } from './totals';

export type Level = 'process' | 'thread' | 'module' | 'symbol';
export const levels: readonly Level[] = ['process', 'thread', 'module', 'symbol'];

export interface Row {
  level: Level;
  id: number; // of the process or thread; of a module or symbol: one of its frames
  name: string;
  ticks: number;
  rows: Row[];
}

export type Order = 'ticks' | 'name';

// What equal rows have in common: the number of the process or thread, the names of a module and symbol.
function keyOf(trace: Trace, level: Level, path: number): number {
  const frame = trace.frame[path]!;
  if (level === 'thread') return trace.thread[path]!;
  if (level === 'process') return trace.threadProcess[trace.thread[path]!]!;
  // Modules of the kernel have names like files.
  const module = trace.module[frame]! * 8 + (trace.kind[frame]! & 1);
  return level === 'module' ? module : (module + (trace.kind[frame]! & 6)) * 0x200000 + trace.symbol[frame]!;
}

function idOf(trace: Trace, level: Level, path: number): number {
  if (level === 'thread') return trace.thread[path]!;
  if (level === 'process') return trace.threadProcess[trace.thread[path]!]!;
  return trace.frame[path]!;
}

function nameOf(trace: Trace, level: Level, id: number): string {
  if (level === 'process') return processText(trace, id);
  if (level === 'thread') return threadText(trace, id);
  return level === 'module' ? moduleText(trace, id) : symbolText(trace, id);
}

// The rows of the chosen levels, from the outside in.
export function makeRows(trace: Trace, totals: Totals, chosen: readonly Level[]): Row[] {
  interface Group extends Row {
    groups: Map<number, Group>;
  }
  const top: Group = { level: 'process', id: 0, name: '', ticks: 0, rows: [], groups: new Map() };
  for (let path = 0; path < totals.own.length; ++path) {
    const ticks = totals.own[path]!;
    if (ticks === 0) continue;
    let at = top;
    for (const level of chosen) {
      const key = keyOf(trace, level, path);
      let group = at.groups.get(key);
      if (!group) {
        const id = idOf(trace, level, path);
        group = { level, id, name: nameOf(trace, level, id), ticks: 0, rows: [], groups: new Map() };
        at.groups.set(key, group);
        at.rows.push(group);
      }
      group.ticks += ticks;
      at = group;
    }
  }
  return top.rows;
}

const collator = new Intl.Collator('en', { numeric: true });

export function sortRows(rows: Row[], order: Order): void {
  const byName = (a: Row, b: Row) => collator.compare(a.name, b.name) || a.id - b.id;
  rows.sort(order === 'name' ? byName : (a, b) => b.ticks - a.ticks || byName(a, b));
  for (const row of rows) sortRows(row.rows, order);
}

export interface Shown {
  row: Row;
  depth: number;
  above: number; // place in the list of the row that contains it, -1: none
}

// The rows that are visible when those of `open` are open. With a search: rows whose names contain the text,
// those that contain them, and all below them that are open.
export function visibleRows(rows: Row[], open: ReadonlySet<Row>, search: string): Shown[] {
  const wanted = search.toLowerCase();
  const fits = (row: Row) => row.name.toLowerCase().includes(wanted);
  const leads = new Map<Row, boolean>();
  const leadsTo = (row: Row): boolean => {
    let known = leads.get(row);
    if (known === undefined) {
      known = fits(row) || row.rows.map(leadsTo).includes(true);
      leads.set(row, known);
    }
    return known;
  };
  const list: Shown[] = [];
  const add = (row: Row, depth: number, above: number, inside: boolean) => {
    if (wanted !== '' && !inside && !leadsTo(row)) return;
    const place = list.length;
    list.push({ row, depth, above });
    const found = inside || fits(row);
    if (open.has(row) || (wanted !== '' && !found))
      for (const part of row.rows) add(part, depth + 1, place, wanted !== '' && found);
  };
  for (const row of rows) add(row, 0, -1, false);
  return list;
}
