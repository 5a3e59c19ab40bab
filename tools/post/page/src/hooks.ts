// SPDX-License-Identifier: MIT
// User hooks: where the lanes of the timeline have marks, and what they say.
import { count } from './format';
import type { Trace } from './trace';

const mostTexts = 3;

export class HookMarks {
  private readonly ofCpu = new Map<number, number[]>(); // kinds
  private readonly ofThread = new Map<number, number[]>();

  constructor(private readonly trace: Trace) {
    const add = (to: Map<number, number[]>, key: number, kind: number) => {
      const list = to.get(key);
      if (list) list.push(kind);
      else to.set(key, [kind]);
    };
    trace.hooks?.cpu.forEach((cpu, kind) => {
      add(this.ofCpu, cpu, kind);
      add(this.ofThread, trace.hooks!.thread[kind]!, kind);
    });
  }

  private kinds(cpu: number, thread: number): number[] {
    return (cpu >= 0 ? this.ofCpu.get(cpu) : thread >= 0 ? this.ofThread.get(thread) : undefined) ?? [];
  }

  // The bins with hooks, in their order. cpu: that of a lane, -1: it is that of a thread.
  bins(cpu: number, thread: number): number[] {
    const { hooks } = this.trace;
    const bins = new Set<number>();
    for (const kind of this.kinds(cpu, thread))
      for (let i = hooks!.counts.rows[kind]!; i < hooks!.counts.rows[kind + 1]!; ++i) bins.add(hooks!.counts.bin[i]!);
    return [...bins].sort((a, b) => a - b);
  }

  // The hooks of a lane in these bins, the most frequent first; '': there are none.
  texts(cpu: number, thread: number, from: number, to: number): string {
    const { hooks } = this.trace;
    const sums = new Map<string, number>();
    for (const kind of this.kinds(cpu, thread))
      for (let i = hooks!.counts.rows[kind]!; i < hooks!.counts.rows[kind + 1]!; ++i) {
        if (hooks!.counts.bin[i]! < from || hooks!.counts.bin[i]! >= to) continue;
        const text = this.name(kind);
        sums.set(text, (sums.get(text) ?? 0) + hooks!.counts.amount[i]!);
      }
    const sorted = [...sums].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
    const shown = sorted.slice(0, mostTexts).map(([text, times]) => (times > 1 ? `${text} (${count(times)} times)` : text));
    if (sorted.length > mostTexts) shown.push(`${count(sorted.length - mostTexts)} other kinds of hooks`);
    return shown.join(', ');
  }

  private name(kind: number): string {
    const { hooks, names } = this.trace;
    const numbers = `hook ${hooks!.major[kind]!.toString(16)} ${hooks!.minor[kind]!.toString(16)}`;
    return hooks!.text[kind] === 0 ? numbers : `${numbers} \u201c${names[hooks!.text[kind]!]}\u201d`;
  }

  // What the marks lack.
  lack(): string {
    const { hooks } = this.trace;
    const parts = [];
    if (hooks?.withoutText) parts.push(`The texts of ${count(hooks.withoutText)} hooks are left out.`);
    if (hooks?.leftOut) parts.push(`${count(hooks.leftOut)} hooks are left out.`);
    return parts.join(' ');
  }
}
