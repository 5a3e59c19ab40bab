// SPDX-License-Identifier: MIT
// The reports as a tree of rows: ticks by process, thread, module, symbol, line and instruction, or by some of these levels.
import { instructionText, lineText, markerKind, moduleText, processText, symbolText, threadText, type Trace } from './trace';
import { codeTicks, type Selection, type Totals } from './totals';

export type Level = 'process' | 'thread' | 'module' | 'symbol' | 'line' | 'instruction';
export const levels: readonly Level[] = ['process', 'thread', 'module', 'symbol', 'line', 'instruction'];

export function isOfCode(level: Level): boolean {
  return level === 'line' || level === 'instruction';
}

export interface Row {
  level: Level;
  id: number; // of the process, thread, line or instruction; of a module or symbol: one of its frames
  name: string;
  source: string; // the text of a line
  ticks: number;
  rows: Row[];
}

export type Order = 'ticks' | 'name';

// Ticks of a thread on a function, or on one of its instructions.
interface Item {
  thread: number;
  frame: number;
  instruction: number; // -1: not known; -2: the function has none
  ticks: number;
}

// What equal rows have in common: the number of the process, thread, line or instruction, the names of a module and symbol.
function keyOf(trace: Trace, level: Level, item: Item): number {
  const { frame } = item;
  if (level !== 'module' && level !== 'symbol') return idOf(trace, level, item);
  // Modules of the kernel have names like files.
  const module = trace.module[frame]! * 8 + (trace.kind[frame]! & 1);
  return level === 'module' ? module : (module + (trace.kind[frame]! & 6)) * 0x200000 + trace.symbol[frame]!;
}

function idOf(trace: Trace, level: Level, { thread, frame, instruction }: Item): number {
  if (level === 'thread') return thread;
  if (level === 'process') return trace.threadProcess[thread]!;
  if (level === 'instruction') return instruction;
  if (level === 'line') return instruction < 0 ? -1 : trace.code!.line[instruction]!;
  return frame;
}

function nameOf(trace: Trace, level: Level, id: number): string {
  if (level === 'process') return processText(trace, id);
  if (level === 'thread') return threadText(trace, id);
  if (level === 'line') return lineText(trace, id);
  if (level === 'instruction') return instructionText(trace, id);
  return level === 'module' ? moduleText(trace, id) : symbolText(trace, id);
}

// Ticks by thread and function.
function itemsOf(trace: Trace, totals: Totals): Map<number, Item> {
  const items = new Map<number, Item>();
  const frames = trace.symbol.length;
  for (let path = 0; path < totals.own.length; ++path) {
    const ticks = totals.own[path]!;
    if (ticks === 0) continue;
    const thread = trace.thread[path]!;
    const frame = trace.frame[path]!;
    const key = thread * frames + frame;
    const item = items.get(key);
    if (item) item.ticks += ticks;
    else items.set(key, { thread, frame, instruction: -2, ticks });
  }
  return items;
}

// The same divided by instruction. Ticks of paths that were left out can be on a known instruction.
function itemsOfCode(trace: Trace, totals: Totals, selection: Selection): Item[] {
  const whole = itemsOf(trace, totals);
  const frames = trace.symbol.length;
  const code = trace.code!;
  const parts: Item[] = [];
  codeTicks(trace, selection).forEach((ticks, row) => {
    if (ticks === 0) return;
    const thread = code.thread[row]!;
    const instruction = code.instruction[row]!;
    const frame = code.frame[instruction]!;
    parts.push({ thread, frame, instruction, ticks });
    const key = thread * frames + frame;
    const item = whole.get(key) ?? { thread, frame, instruction: -1, ticks: 0 };
    item.instruction = -1;
    item.ticks -= ticks;
    whole.set(key, item);
  });
  const missing = new Map<number, number>(); // by thread
  for (const item of whole.values())
    if (item.ticks < 0) missing.set(item.thread, (missing.get(item.thread) ?? 0) - item.ticks);
  for (const item of whole.values()) {
    const more = (trace.kind[item.frame]! & markerKind) === 0 ? 0 : Math.min(item.ticks, missing.get(item.thread) ?? 0);
    item.ticks -= more;
    if (item.ticks > 0) parts.push(item);
  }
  return parts;
}

// The rows of the chosen levels, from the outside in. The selection is that of the totals. Where paths are left out, the code can tell
// which functions had their ticks.
export function makeRows(trace: Trace, totals: Totals, chosen: readonly Level[], selection?: Selection): Row[] {
  interface Group extends Row {
    groups: Map<number, Group>;
  }
  const withCode = trace.code !== null && selection !== undefined && (chosen.some(isOfCode) || trace.leftOutTicks > 0);
  const items = withCode ? itemsOfCode(trace, totals, selection) : itemsOf(trace, totals).values();
  const top: Group = { level: 'process', id: 0, name: '', source: '', ticks: 0, rows: [], groups: new Map() };
  for (const item of items) {
    let at = top;
    for (const level of chosen) {
      // A function without lines and instructions is a leaf, and so are ticks on an unknown instruction.
      if (at !== top && ((isOfCode(level) && item.instruction === -2) || (level === 'instruction' && item.instruction < 0))) continue;
      const key = keyOf(trace, level, item);
      let group = at.groups.get(key);
      if (!group) {
        const id = idOf(trace, level, item);
        const source = level === 'line' && id >= 0 ? trace.names[trace.code!.lineText[id]!]! : '';
        group = { level, id, name: nameOf(trace, level, id), source, ticks: 0, rows: [], groups: new Map() };
        at.groups.set(key, group);
        at.rows.push(group);
      }
      group.ticks += item.ticks;
      at = group;
    }
  }
  return top.rows;
}

const collator = new Intl.Collator('en', { numeric: true });

export function sortRows(rows: Row[], order: Order): void {
  const byName = (a: Row, b: Row) => collator.compare(a.name, b.name) || a.id - b.id;
  const byOffset = (a: Row, b: Row) => (a.level === 'instruction' && b.level === 'instruction' ? a.id - b.id : byName(a, b));
  rows.sort(order === 'name' ? byOffset : (a, b) => b.ticks - a.ticks || byName(a, b));
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
