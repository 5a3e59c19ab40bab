// SPDX-License-Identifier: MIT
// The data of a trace in the form in which the page computes; docs/html-data.md describes what post writes.

// Sums by row and bin. Those of row r are at rows[r] to rows[r + 1].
export interface Sums {
  rows: Int32Array;
  bin: Int32Array;
  length: Int32Array | null; // in bins; null: each has one
  amount: Float64Array; // in each of the bins
}

export interface Fact {
  lead: string;
  text: string;
}

export interface Schedule {
  thread: Int32Array; // by row
  from: Float64Array; // bins, with fractions: since when the state of the thread is known
  to: Float64Array;
  running: Sums; // nanoseconds, by row
  runnable: Sums;
  unknown: Sums;
  cpus: Int32Array;
  cpuRunning: Sums;
}

// Lines and instructions with ticks.
export interface Code {
  bins: number; // each of its bins is so many of the trace's
  before: number; // bins of the trace before its first one, with which the first bin of the code begins
  leftOutTicks: number;
  sources: { path: string; problem: string }[]; // files whose text was asked for
  lineFile: Int32Array; // names
  lineNumber: Int32Array;
  lineText: Int32Array; // names; 0: not known
  frame: Int32Array; // by instruction
  line: Int32Array; // -1: not known
  offset: Float64Array;
  text: Int32Array; // names
  inlined: Int32Array; // names: the function that was inlined there
  thread: Int32Array; // by row of ticks
  instruction: Int32Array;
  ticks: Sums;
}

// Call paths of threads that left the CPU, each with the reason as its innermost function; nanoseconds until their
// wake-up (blocked) and until they ran again (runnable).
export interface Waits {
  hasStacks: boolean;
  leftOut: number; // paths that are joined
  leftOutNs: number;
  above: Int32Array; // -1: none
  frame: Int32Array;
  thread: Int32Array;
  guessed: Uint8Array;
  firstBelow: Int32Array;
  nextBelow: Int32Array;
  blocked: Sums;
  runnable: Sums;
}
// Wake-ups of blocked threads.
export interface Wakers {
  thread: Int32Array; // by row
  waker: Int32Array; // 0: an interrupt, 1: the idle task, 2: a thread without a number, else 3 more than its number
  counts: Sums;
}
// User hooks by kind.
export interface Hooks {
  major: Float64Array;
  minor: Float64Array;
  text: Int32Array; // names; 0: none
  cpu: Int32Array;
  thread: Int32Array; // -1: not known, or none
  counts: Sums;
  withoutText: number; // hooks whose texts are not in the page
  leftOut: number;
}
export type WaitKind = 'blocked' | 'runnable';

// The call paths of the trace with which this one is compared.
export interface Base {
  trace: string;
  above: Int32Array; // -1: none
  frame: Int32Array;
  process: Int32Array; // names
  all: Float64Array; // ticks on the function and on what it called
  firstBelow: Int32Array;
  nextBelow: Int32Array;
}

// A table of another program: a tree of rows, depth first.
export interface Table {
  title: string;
  file: string;
  facts: Fact[];
  order: string; // of the rows; '': none
  columns: string[];
  level: number[]; // by row: at most one more than that of the row before
  name: string[];
  cells: Float64Array[]; // by column, then row; NaN: not available
}

export interface Trace {
  program: string;
  subject: string;
  complete: boolean;
  lost: string;
  notSeen: string[];
  facts: Fact[];
  notes: Fact[];
  ticks: number;
  tickNs: number; // 0: not known, or ticks count events
  event: string; // '': ticks come by time
  eventPeriod: number;
  hasStacks: boolean;
  wholeCpus: boolean; // the rest of a CPU's time is idle
  firstBinNs: number; // from the beginning of the trace
  binNs: number;
  bins: number;
  names: string[];
  processName: Int32Array;
  pid: Float64Array;
  inSubject: Uint8Array; // by process
  threadProcess: Int32Array;
  threadName: Int32Array;
  tid: Float64Array;
  symbol: Int32Array; // by frame: names
  module: Int32Array;
  kind: Uint8Array;
  above: Int32Array; // by path: the path of the caller, -1: none
  frame: Int32Array;
  thread: Int32Array;
  guessed: Uint8Array; // by path: 1: that this function called is a guess
  firstBelow: Int32Array; // by path: paths of functions that it calls, as a list; -1: none
  nextBelow: Int32Array;
  leftOut: number; // paths that are joined
  leftOutTicks: number;
  pathTicks: Sums; // by path
  cpuOfRow: Int32Array;
  cpuIdle: Uint8Array;
  cpuTicks: Sums;
  schedule: Schedule | null;
  waits: Waits | null;
  wakers: Wakers | null;
  hooks: Hooks | null;
  code: Code | null;
  base: Base | null;
  flow: Table | null; // the calls of an instruction trace
  tables: Table[];
}

export const kernelKind = 1;
export const markerKind = 2;
export const unnamedKind = 4;

export const schemaVersion = 1;

type Fields = Record<string, unknown>;

function fields(value: unknown, name: string): Fields {
  const field = (value as Fields)[name];
  if (typeof field !== 'object' || field === null) throw new Error(`The page has no data on "${name}".`);
  return field as Fields;
}

function numbers(value: Fields, name: string): number[] {
  const list = value[name];
  if (!Array.isArray(list)) throw new Error(`The page has no numbers "${name}".`);
  return list as number[];
}

function sumsOf(value: Fields): Sums {
  const count = numbers(value, 'sums');
  const skip = numbers(value, 'skip');
  const rows = new Int32Array(count.length + 1);
  const bin = new Int32Array(skip.length);
  for (let row = 0, at = 0; row < count.length; ++row) {
    let last = 0;
    for (const end = at + count[row]!; at < end; ++at) bin[at] = last += skip[at]!;
    rows[row + 1] = at;
  }
  const length = value['length'] ? Int32Array.from(numbers(value, 'length')) : null;
  return { rows, bin, length, amount: Float64Array.from(numbers(value, 'amount')) };
}

function factsOf(value: unknown): Fact[] {
  return (value as [string, string][]).map(([lead, text]) => ({ lead: shown(lead), text: shown(text) }));
}

// Characters that change the direction of the text around them are shown as U+FFFD: a name cannot change how
// another one reads.
export function shown(text: string): string {
  return text.replace(/[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g, '\ufffd');
}

function scheduleOf(value: unknown, binNs: number): Schedule | null {
  if (value === null) return null;
  const given = value as Fields;
  const inBins = (name: string) => Float64Array.from(numbers(given, name), (ns) => ns / binNs);
  return {
    thread: Int32Array.from(numbers(given, 'thread')),
    from: inBins('from_ns'),
    to: inBins('to_ns'),
    running: sumsOf(fields(given, 'running')),
    runnable: sumsOf(fields(given, 'runnable')),
    unknown: sumsOf(fields(given, 'unknown')),
    cpus: Int32Array.from(numbers(fields(given, 'cpu_running'), 'cpu')),
    cpuRunning: sumsOf(fields(given, 'cpu_running')),
  };
}

function codeOf(value: unknown): Code | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  const ints = (of: string, name: string) => Int32Array.from(numbers(fields(given, of), name));
  return {
    bins: given['bins'] as number,
    before: given['before'] as number,
    leftOutTicks: given['left_out_ticks'] as number,
    sources: (given['sources'] as [string, string][]).map(([path, problem]) => ({ path: shown(path), problem: shown(problem) })),
    lineFile: ints('lines', 'file'),
    lineNumber: ints('lines', 'line'),
    lineText: ints('lines', 'text'),
    frame: ints('instructions', 'frame'),
    line: ints('instructions', 'line').map((number) => number - 1),
    offset: Float64Array.from(numbers(fields(given, 'instructions'), 'offset')),
    text: ints('instructions', 'text'),
    inlined: ints('instructions', 'inlined'),
    thread: ints('ticks', 'thread'),
    instruction: ints('ticks', 'instruction'),
    ticks: sumsOf(fields(given, 'ticks')),
  };
}

// Lists of the paths below each path.
// The paths of the functions that each path calls, as lists.
export function linksBelow(above: Int32Array): { firstBelow: Int32Array; nextBelow: Int32Array } {
  const firstBelow = new Int32Array(above.length).fill(-1);
  const nextBelow = new Int32Array(above.length).fill(-1);
  for (let path = above.length - 1; path >= 0; --path) {
    const caller = above[path]!;
    if (caller < 0) continue;
    nextBelow[path] = firstBelow[caller]!;
    firstBelow[caller] = path;
  }
  return { firstBelow, nextBelow };
}

function waitsOf(value: unknown): Waits | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  const above = Int32Array.from(numbers(given, 'above'), (number) => number - 1);
  return {
    hasStacks: given['stacks'] === true,
    leftOut: given['left_out'] as number,
    leftOutNs: given['left_out_ns'] as number,
    above,
    frame: Int32Array.from(numbers(given, 'frame')),
    thread: Int32Array.from(numbers(given, 'thread')),
    guessed: Uint8Array.from(numbers(given, 'guessed')),
    ...linksBelow(above),
    blocked: sumsOf(fields(given, 'blocked')),
    runnable: sumsOf(fields(given, 'runnable')),
  };
}

function wakersOf(value: unknown): Wakers | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  return { thread: Int32Array.from(numbers(given, 'thread')), waker: Int32Array.from(numbers(given, 'waker')), counts: sumsOf(given) };
}

function hooksOf(value: unknown): Hooks | null {
  if (typeof value !== 'object' || value === null) return null;
  const given = value as Fields;
  return {
    major: Float64Array.from(numbers(given, 'major')),
    minor: Float64Array.from(numbers(given, 'minor')),
    text: Int32Array.from(numbers(given, 'text')),
    cpu: Int32Array.from(numbers(given, 'cpu')),
    thread: Int32Array.from(numbers(given, 'thread'), (number) => number - 1),
    counts: sumsOf(given),
    withoutText: given['without_text'] as number,
    leftOut: given['left_out'] as number,
  };
}

function baseOf(value: unknown): Base | null {
  if (typeof value !== 'object' || value === null) return null;
  const paths = fields(value, 'paths');
  const above = Int32Array.from(numbers(paths, 'above'), (number) => number - 1);
  const all = Float64Array.from(numbers(paths, 'ticks'));
  for (let path = all.length - 1; path >= 0; --path) if (above[path]! >= 0) all[above[path]!]! += all[path]!;
  return {
    trace: shown(String((value as Fields)['trace'])),
    above,
    frame: Int32Array.from(numbers(paths, 'frame')),
    process: Int32Array.from(numbers(paths, 'process')),
    all,
    ...linksBelow(above),
  };
}

export function traceOf(data: unknown): Trace {
  const given = data as Fields;
  if (given['schema'] !== 'pitrace-html' || given['schema_version'] !== schemaVersion)
    throw new Error('The data in this page were written by another version of post than the page.');
  const ints = (of: string, name: string) => Int32Array.from(numbers(fields(given, of), name));
  const time = fields(given, 'time');
  const binNs = time['bin_ns'] as number;
  const paths = fields(given, 'paths');
  const above = Int32Array.from(numbers(paths, 'above'), (number) => number - 1);
  const names = (given['names'] as string[]).map(shown);
  return {
    program: String(given['program']),
    subject: shown(String(given['subject'])),
    complete: given['complete'] === true,
    lost: shown(String(given['lost'])),
    notSeen: (given['not_seen'] as string[]).map(shown),
    facts: factsOf(given['facts']),
    notes: factsOf(given['notes']),
    ticks: given['tick_count'] as number,
    tickNs: given['tick_ns'] as number,
    event: shown(String(given['event'])),
    eventPeriod: given['event_period'] as number,
    hasStacks: given['stacks'] === true,
    wholeCpus: given['whole_cpus'] === true,
    firstBinNs: time['first_bin_ns'] as number,
    binNs,
    bins: time['bins'] as number,
    names,
    processName: ints('processes', 'name'),
    pid: Float64Array.from(numbers(fields(given, 'processes'), 'pid')),
    inSubject: Uint8Array.from(numbers(fields(given, 'processes'), 'subject')),
    threadProcess: ints('threads', 'process'),
    threadName: ints('threads', 'name'),
    tid: Float64Array.from(numbers(fields(given, 'threads'), 'tid')),
    symbol: ints('frames', 'symbol'),
    module: ints('frames', 'module'),
    kind: Uint8Array.from(numbers(fields(given, 'frames'), 'kind')),
    above,
    frame: ints('paths', 'frame'),
    thread: ints('paths', 'thread'),
    guessed: Uint8Array.from(numbers(paths, 'guessed')),
    ...linksBelow(above),
    leftOut: paths['left_out'] as number,
    leftOutTicks: paths['left_out_ticks'] as number,
    pathTicks: sumsOf(fields(given, 'ticks')),
    cpuOfRow: ints('cpu_ticks', 'cpu'),
    cpuIdle: Uint8Array.from(numbers(fields(given, 'cpu_ticks'), 'idle')),
    cpuTicks: sumsOf(fields(given, 'cpu_ticks')),
    schedule: scheduleOf(given['schedule'], binNs),
    waits: waitsOf(given['waits']),
    wakers: wakersOf(given['wakers']),
    hooks: hooksOf(given['hooks']),
    code: codeOf(given['code']),
    base: baseOf(given['base']),
    flow: given['flow'] ? tableOf(given['flow'] as Fields, names) : null,
    tables: ((given['tables'] ?? []) as Fields[]).map((table) => tableOf(table, names)),
  };
}

function tableOf(given: Fields, names: string[]): Table {
  return {
    title: shown(String(given['title'])),
    file: shown(String(given['file'])),
    facts: factsOf(given['facts']),
    order: shown(String(given['order'] ?? '')),
    columns: (given['columns'] as string[]).map(shown),
    level: numbers(given, 'level'),
    name: numbers(given, 'name').map((name) => names[name]!),
    cells: (given['cells'] as (number | null)[][]).map((cells) => Float64Array.from(cells, (cell) => cell ?? NaN)),
  };
}

// A trace whose paths and amounts are those of the waits, so that they are computed as ticks are.
export function waitTrace(trace: Trace, kind: WaitKind): Trace {
  const { waits } = trace;
  if (!waits) throw new Error('The trace has no waits.');
  const { hasStacks, leftOut, leftOutNs, above, frame, thread, guessed, firstBelow, nextBelow } = waits;
  return { ...trace, hasStacks, leftOut, leftOutTicks: leftOutNs, above, frame, thread, guessed, firstBelow, nextBelow, pathTicks: waits[kind], base: null, code: null };
}

// ---- names -----------------------------------------------------------------------------------------

// Of a process that has exited, and of what has no id.
const noId = 0xffffffff;

export function processText(trace: Trace, process: number): string {
  const pid = trace.pid[process]!;
  if (pid === 0) return 'idle';
  const name = trace.names[trace.processName[process]!]! || '(no name)';
  return pid === noId ? name : `${name}:${pid}`;
}

export function threadText(trace: Trace, thread: number): string {
  const process = trace.threadProcess[thread]!;
  const tid = trace.tid[thread]!;
  const name = trace.names[trace.threadName[thread]!]! || trace.names[trace.processName[process]!]! || '(no name)';
  if (trace.pid[process] === 0) return tid === noId ? `idle: ${name}` : `idle of CPU ${tid}`;
  return tid === noId ? name : `${name}:${tid}`;
}

export function moduleText(trace: Trace, frame: number): string {
  const name = trace.names[trace.module[frame]!]!;
  if ((trace.kind[frame]! & kernelKind) === 0) return name || '(no module)';
  const last = name.slice(name.lastIndexOf('/') + 1);
  return last === '' || last === 'vmlinux' ? '[kernel]' : `[kernel] ${last}`;
}

// The name of a function; of code without a symbol that of its module.
export function symbolText(trace: Trace, frame: number): string {
  if ((trace.kind[frame]! & unnamedKind) === 0) return trace.names[trace.symbol[frame]!]!;
  const module = moduleText(trace, frame);
  return `[${module.slice(module.lastIndexOf('/') + 1).replace(/^\(|\)$|^\[|\]$/g, '')}]`;
}

export function lineText(trace: Trace, line: number): string {
  const { code, names } = trace;
  if (!code || line < 0) return '(line not known)';
  const file = names[code.lineFile[line]!]!;
  return `${file.slice(file.lastIndexOf('/') + 1) || '(file not known)'}:${code.lineNumber[line]}`;
}

export function instructionText(trace: Trace, instruction: number): string {
  const { code, names } = trace;
  if (!code || instruction < 0) return '(not known)';
  const inlined = names[code.inlined[instruction]!]!;
  const text = `+${code.offset[instruction]!.toString(16)} ${names[code.text[instruction]!]!}`.trimEnd();
  return inlined === '' ? text : `${text}  (in ${inlined}, inlined)`;
}
