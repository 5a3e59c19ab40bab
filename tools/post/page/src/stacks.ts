// SPDX-License-Identifier: MIT
// Which programs have call stacks whose outer callers are missing.
import { markerKind, moduleText, type Trace } from './trace';
import type { Totals } from './totals';

export interface BrokenStacks {
  program: string;
  ticks: number;
  broken: number; // ticks whose stack does not reach the start of its thread
  cut: number; // ticks whose stack is deeper than what was recorded
  module: string; // in which most of the broken ones end
}

// By path: 0 whole, 1 cut, 2 broken, 3 left out.
function endsOf(trace: Trace): Uint8Array {
  const ends = new Uint8Array(trace.frame.length);
  for (let path = 0; path < ends.length; ++path) {
    const above = trace.above[path]!;
    ends[path] = above < 0 ? 0 : ends[above]!;
    const frame = trace.frame[path]!;
    if ((trace.kind[frame]! & markerKind) === 0) continue;
    const name = trace.names[trace.symbol[frame]!]!;
    const end = name.startsWith('[broken]') ? 2 : name.startsWith('[cut]') ? 1 : 0;
    ends[path] = Math.max(ends[path]!, end);
  }
  return ends;
}

// The selected programs, that is processes of a name, with the most incomplete stacks first.
export function brokenStacks(trace: Trace, totals: Totals): BrokenStacks[] {
  const ends = endsOf(trace);
  const programs = new Map<number, BrokenStacks & { modules: Map<string, number> }>();
  for (let path = 0; path < ends.length; ++path) {
    const name = trace.processName[trace.threadProcess[trace.thread[path]!]!]!;
    let program = programs.get(name);
    if (!program) {
      program = { program: trace.names[name]! || '(no name)', ticks: 0, broken: 0, cut: 0, module: '', modules: new Map() };
      programs.set(name, program);
    }
    const own = totals.own[path]!;
    program.ticks += own;
    if (ends[path] === 2) program.broken += own;
    if (ends[path] === 1) program.cut += own;
    // The function next to the marker is the last one that is known.
    const above = trace.above[path]!;
    if (ends[path] === 2 && above >= 0 && (trace.kind[trace.frame[above]!]! & markerKind) !== 0) {
      const module = moduleText(trace, trace.frame[path]!);
      program.modules.set(module, (program.modules.get(module) ?? 0) + totals.all[path]!);
    }
  }
  const list = [...programs.values()].filter(({ broken, cut }) => broken + cut > 0);
  for (const program of list) program.module = [...program.modules].sort((a, b) => b[1] - a[1])[0]?.[0] ?? '';
  return list.sort((a, b) => b.broken + b.cut - a.broken - a.cut || (a.program < b.program ? -1 : 1));
}
