// SPDX-License-Identifier: MIT
// AboveIdle: which part of a time CPUs were not idle.
import { mean, type Lane } from './lanes';
import type { Trace } from './trace';

export interface Busy {
  cpu: number;
  share: number; // of the time, 0 to 1
}

// By CPU, of the bins from `from` up to, but without `to`.
export function aboveIdle(cpus: readonly Lane[], from: number, to: number): Busy[] {
  return cpus.map(({ cpu, running }) => ({ cpu, share: mean(running, from, to) }));
}

export function meanShare(all: readonly Busy[]): number {
  return all.length === 0 ? 0 : all.reduce((sum, { share }) => sum + share, 0) / all.length;
}

// From what the shares are known.
export function aboveIdleSource(trace: Trace): string {
  return trace.schedule
    ? 'Of all threads in the selected time, from context switches. A CPU is idle while its idle task runs, also while that is interrupted.'
    : trace.tickNs === 0
      ? 'Of the ticks in the selected time, whatever process is chosen. They count events: a CPU is not idle where it has as many as in the fullest stretch of the trace.'
      : 'Of the ticks in the selected time, whatever process is chosen: each stands for the time to the next one, except those of idle tasks.';
}
