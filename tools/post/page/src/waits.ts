// SPDX-License-Identifier: MIT
// Why a thread was off the CPU at a time, and who woke it.
import { duration, seconds } from './format';
import { kernelKind, markerKind, symbolText, threadText, type Sums, type Trace } from './trace';

// What a row of sums has in a bin.
function inBin(sums: Sums, row: number, bin: number): number {
  let amount = 0;
  for (let i = sums.rows[row]!; i < sums.rows[row + 1]! && sums.bin[i]! <= bin; ++i)
    if (bin < sums.bin[i]! + (sums.length ? sums.length[i]! : 1)) amount += sums.amount[i]!;
  return amount;
}

function rowsByThread(threads: Int32Array): Map<number, number[]> {
  const rows = new Map<number, number[]>();
  threads.forEach((thread, row) => {
    const list = rows.get(thread);
    if (list) list.push(row);
    else rows.set(thread, [row]);
  });
  return rows;
}

export class WaitTexts {
  private readonly paths: Map<number, number[]>;
  private readonly wakers: Map<number, number[]>;

  constructor(private readonly trace: Trace) {
    this.paths = rowsByThread(trace.waits?.thread ?? new Int32Array());
    this.wakers = rowsByThread(trace.wakers?.thread ?? new Int32Array());
  }

  // The longest waits of a thread in a bin; '': there are none.
  waits(thread: number, bin: number): string {
    const { waits } = this.trace;
    if (!waits) return '';
    const sums = new Map<string, number>();
    for (const path of this.paths.get(thread) ?? []) {
      const ns = inBin(waits.blocked, path, bin) + inBin(waits.runnable, path, bin);
      if (ns === 0) continue;
      const text = this.reason(path);
      sums.set(text, (sums.get(text) ?? 0) + ns);
    }
    const longest = [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1)).slice(0, 2);
    return longest.map(([text, ns]) => `${text} ${duration(ns)}`).join(', ');
  }

  // The reason of a wait, and the function of the program that waited; without one the innermost of the kernel.
  private reason(path: number): string {
    const { trace } = this;
    const waits = trace.waits!;
    const name = symbolText(trace, waits.frame[path]!);
    let shown = -1;
    for (let at = waits.above[path]!; at >= 0; at = waits.above[at]!) {
      const kind = trace.kind[waits.frame[at]!]!;
      if ((kind & markerKind) !== 0) continue;
      if (shown < 0) shown = at;
      if ((kind & kernelKind) !== 0) continue;
      shown = at;
      break;
    }
    return shown < 0 ? name : `${name} in ${symbolText(trace, waits.frame[shown]!)}`;
  }

  // Who woke a thread in a bin, or next after it; '': nobody did.
  wakes(thread: number, bin: number): string {
    const { wakers } = this.trace;
    if (!wakers) return '';
    const rows = this.wakers.get(thread) ?? [];
    const nextOf = (row: number) => {
      let first = wakers.counts.rows[row]!;
      let end = wakers.counts.rows[row + 1]!;
      while (first < end) {
        const middle = (first + end) >> 1;
        if (wakers.counts.bin[middle]! < bin) first = middle + 1;
        else end = middle;
      }
      return first < wakers.counts.rows[row + 1]! ? wakers.counts.bin[first]! : Infinity;
    };
    const next = rows.map(nextOf);
    const when = next.reduce((least, value) => Math.min(least, value), Infinity);
    if (when === Infinity) return '';
    const parts = rows
      .map((row, place) => ({ row, ticks: next[place] === when ? inBin(wakers.counts, row, when) : 0 }))
      .filter(({ ticks }) => ticks > 0)
      .sort((a, b) => b.ticks - a.ticks || a.row - b.row);
    const shown = parts.slice(0, 2).map(({ row, ticks }) => `${this.wakerText(wakers.waker[row]!)}${ticks > 1 ? ` (${ticks} times)` : ''}`);
    if (parts.length > 2) shown.push(`${parts.length - 2} others`);
    const time = when === bin ? '' : ` at ${seconds(this.trace.firstBinNs + when * this.trace.binNs, this.trace.binNs)}`;
    return `woken${time} by ${shown.join(', ')}`;
  }

  private wakerText(waker: number): string {
    if (waker >= 3) return threadText(this.trace, waker - 3);
    return ['an interrupt', 'the idle task', 'a thread that is not in this page'][waker]!;
  }
}
