// SPDX-License-Identifier: MIT
// Adds up the ticks of the selected time and threads.
import type { Sums, Trace } from './trace';

export interface Selection {
  from: number; // bins: from this one
  to: number; // up to, but without this one
  threads: Uint8Array | null; // 1: selected; null: all are
}

export interface Totals {
  own: Float64Array; // by path: ticks on its function
  all: Float64Array; // and on what that called
  total: number;
}

export function whole(trace: Trace): Selection {
  return { from: 0, to: trace.bins, threads: null };
}

// What is in the bins of a row.
export function sumOf(sums: Sums, row: number, from: number, to: number): number {
  let sum = 0;
  for (let i = sums.rows[row]!; i < sums.rows[row + 1]!; ++i) {
    const bin = sums.bin[i]!;
    if (bin >= to) break;
    const bins = Math.min(to, bin + (sums.length ? sums.length[i]! : 1)) - Math.max(from, bin);
    if (bins > 0) sum += bins * sums.amount[i]!;
  }
  return sum;
}

export function totals(trace: Trace, selection: Selection): Totals {
  const paths = trace.above.length;
  const own = new Float64Array(paths);
  let total = 0;
  for (let path = 0; path < paths; ++path) {
    if (selection.threads && selection.threads[trace.thread[path]!] === 0) continue;
    own[path] = sumOf(trace.pathTicks, path, selection.from, selection.to);
    total += own[path]!;
  }
  const all = own.slice();
  // A path has a higher number than that of its caller.
  for (let path = paths - 1; path >= 0; --path)
    if (trace.above[path]! >= 0) all[trace.above[path]!]! += all[path]!;
  return { own, all, total };
}

// Which threads belong to the process for which the trace was made and to its descendants; null if there is
// none, or if no other process has a thread.
export function subjectThreads(trace: Trace): Uint8Array | null {
  const threads = Uint8Array.from(trace.threadProcess, (process) => trace.inSubject[process]!);
  return trace.subject !== '' && threads.includes(1) && threads.includes(0) ? threads : null;
}

export function threadsOfProcess(trace: Trace, process: number): Uint8Array {
  return Uint8Array.from(trace.threadProcess, (owner) => (owner === process ? 1 : 0));
}

export function onlyThread(trace: Trace, thread: number): Uint8Array {
  const threads = new Uint8Array(trace.tid.length);
  threads[thread] = 1;
  return threads;
}

// The bins that are known for lines, too: `bins` of them are one bin of the code.
export function codeSelection(trace: Trace, selection: Selection): Selection {
  const { code } = trace;
  if (!code || code.bins === 1) return selection;
  const down = (bin: number) => Math.floor((bin + code.before) / code.bins) * code.bins - code.before;
  return { ...selection, from: Math.max(0, down(selection.from)), to: Math.min(trace.bins, down(selection.to + code.bins - 1)) };
}

// Ticks by row of the code, in a selection of whole bins of the code.
export function codeTicks(trace: Trace, selection: Selection): Float64Array {
  const { code } = trace;
  const ticks = new Float64Array(code?.thread.length ?? 0);
  if (!code) return ticks;
  const from = Math.floor((selection.from + code.before) / code.bins);
  const to = Math.ceil((selection.to + code.before) / code.bins);
  for (let row = 0; row < ticks.length; ++row)
    if (!selection.threads || selection.threads[code.thread[row]!] === 1) ticks[row] = sumOf(code.ticks, row, from, to);
  return ticks;
}
