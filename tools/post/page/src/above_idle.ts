// SPDX-License-Identifier: MIT
// AboveIdle: which part of a time CPUs were not idle.
import { mean, tickShare, type Lane } from './lanes';
import type { Trace } from './trace';

export interface Busy {
  cpu: number;
  share: number; // of the time, 0 to 1
}

// By CPU, of the bins from `from` up to, but without `to`. A bin can have a tick more than fits into it, and the next one less: their
// mean is right, but not that of bins that are limited to 1.
export function aboveIdle(trace: Trace, cpus: readonly Lane[], from: number, to: number): Busy[] {
  return cpus.map(({ cpu, running, ticks }) => ({
    cpu,
    share: trace.schedule ? mean(running, from, to) : Math.min(1, mean(ticks, from, to) * tickShare(trace)),
  }));
}

export function meanShare(all: readonly Busy[]): number {
  return all.length === 0 ? 0 : all.reduce((sum, { share }) => sum + share, 0) / all.length;
}

// By CPU, each with its text and share; all CPUs together come first where what is missing on one is idle time.
export function cpuRows(trace: Trace, all: readonly Busy[]): [string, number][] {
  const rows = all.map(({ cpu, share }): [string, number] => [`CPU ${cpu}`, share]);
  return trace.wholeCpus && all.length > 1 ? [[`All ${all.length} CPUs`, meanShare(all)], ...rows] : rows;
}

// From what the shares are known.
export function aboveIdleSource(trace: Trace): string {
  if (!trace.wholeCpus)
    return 'Of the selected time. This page has no ticks of other processes or names: the rest of the time a CPU ran them, or was idle.';
  return trace.schedule
    ? 'Of all threads in the selected time, from context switches. A CPU is idle while its idle task runs, also while that is interrupted.'
    : trace.tickNs === 0
      ? 'Of the ticks in the selected time, whatever process is chosen. They count events: a CPU is not idle where it has as many as in the fullest stretch of the trace.'
      : 'Of the ticks in the selected time, whatever process is chosen: each counts for the time until the next one, except those of idle tasks.';
}
