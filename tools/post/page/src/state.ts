// SPDX-License-Identifier: MIT
// What the user has chosen, and the sums that follow from it.
import { FlameMaker } from './flame';
import { flowTrace } from './flow';
import { codeSelection, onlyThread, subjectThreads, threadsOfProcess, totals, whole, type Selection, type Totals } from './totals';
import { count, milliseconds } from './format';
import { stateTrace } from './states';
import { processText, threadText, waitTrace, type Trace, type WaitKind } from './trace';

export type Tab = 'summary' | 'tree' | 'flame' | 'flow' | 'tables';

// What the flame graph is made of: the ticks, the time of threads off the CPU, all of their time by what they did, or the
// instructions of an instruction trace.
export type Flame = 'ticks' | 'states' | 'flow' | WaitKind;

// Of whom the ticks are: "all", "subject", or a process or thread and its number, as "process 3".
export type Scope = string;

export class State {
  from = 0; // the selected bins
  to: number;
  selecting = false; // the selection still changes, with the pointer
  scope: Scope = 'all';
  search = '';
  tab: Tab = 'summary';
  flame: Flame = 'ticks';
  sandwich = -1; // a frame, or -1: the whole flame graph
  private sums: Totals | null = null;
  private codeSums: Totals | null = null;
  private readonly waitSums = new Map<Flame, Totals>();
  private readonly waitTraces = new Map<Flame, Trace>();
  private readonly listeners: (() => void)[] = [];

  constructor(readonly trace: Trace) {
    this.to = trace.bins;
    if (subjectThreads(trace)) this.scope = 'subject';
    if (trace.ticks === 0 && trace.waits) this.flame = 'blocked';
    else if (trace.ticks === 0 && trace.flow) this.flame = 'flow';
  }

  get partOfTime(): boolean {
    return this.from !== 0 || this.to !== this.trace.bins;
  }

  threads(): Uint8Array | null {
    const [kind, number] = this.scope.split(' ');
    if (kind === 'subject') return subjectThreads(this.trace);
    if (kind === 'process') return threadsOfProcess(this.trace, Number(number));
    if (kind === 'thread') return onlyThread(this.trace, Number(number));
    return null;
  }

  // The names of the selected processes, or of that of the selected thread; null: all.
  processNames(): Set<number> | null {
    const threads = this.threads();
    if (!threads) return null;
    const { trace } = this;
    const names = new Set<number>();
    threads.forEach((selected, thread) => {
      if (selected) names.add(trace.processName[trace.threadProcess[thread]!]!);
    });
    return names;
  }

  scopeText(): string {
    const [kind, number] = this.scope.split(' ');
    if (kind === 'subject') return `${this.trace.subject} and descendants`;
    if (kind === 'process') return processText(this.trace, Number(number));
    if (kind === 'thread') return threadText(this.trace, Number(number));
    return 'all processes';
  }

  selection(): Selection {
    return { ...whole(this.trace), from: this.from, to: this.to, threads: this.threads() };
  }

  totals(): Totals {
    this.sums ??= totals(this.trace, this.selection());
    return this.sums;
  }

  // The selection for which lines and instructions are known: it can be longer.
  codeSelection(): Selection {
    return codeSelection(this.trace, this.selection());
  }

  codeTotals(): Totals {
    const { from, to } = this.codeSelection();
    if (from === this.from && to === this.to) return this.totals();
    this.codeSums ??= totals(this.trace, this.codeSelection());
    return this.codeSums;
  }

  flames(): FlameMaker {
    return new FlameMaker(this.flameTrace(), this.flameTotals());
  }

  flameTrace(): Trace {
    if (this.flame === 'ticks') return this.trace;
    let made = this.waitTraces.get(this.flame);
    if (!made) this.waitTraces.set(this.flame, (made = this.makeTrace(this.flame)));
    return made;
  }

  private makeTrace(flame: Exclude<Flame, 'ticks'>): Trace {
    if (flame === 'states') return stateTrace(this.trace);
    return flame === 'flow' ? flowTrace(this.trace, this.trace.flow!) : waitTrace(this.trace, flame);
  }

  flameTotals(): Totals {
    if (this.flame === 'ticks') return this.totals();
    let made = this.waitSums.get(this.flame);
    if (made) return made;
    // The call flow is known for the whole trace only.
    const trace = this.flameTrace();
    made = totals(trace, this.flame === 'flow' ? whole(trace) : this.selection());
    this.waitSums.set(this.flame, made);
    return made;
  }

  // An amount of what the flame graph is made of.
  flameText(amount: number): string {
    if (this.flame === 'flow') return `${count(amount)} instructions`;
    return this.flame === 'ticks' ? `${count(amount)} ticks` : milliseconds(amount);
  }

  onChange(call: () => void): void {
    this.listeners.push(call);
  }

  // Changes the state, and draws everything again.
  set(change: Partial<Pick<State, 'from' | 'to' | 'scope' | 'search' | 'tab' | 'flame' | 'sandwich'>>): void {
    const before = `${this.from} ${this.to} ${this.scope}`;
    const { flame } = this;
    Object.assign(this, change);
    // The states are functions of that graph only, and a call flow has its own numbers of functions.
    if (flame !== this.flame && (flame === 'flow' || this.flame === 'flow')) this.sandwich = change.sandwich ?? -1;
    if (this.flame !== 'states' && this.flame !== 'flow' && this.sandwich >= this.trace.symbol.length) this.sandwich = -1;
    if (before !== `${this.from} ${this.to} ${this.scope}`) {
      this.sums = this.codeSums = null;
      this.waitSums.clear();
    }
    for (const call of this.listeners) call();
  }
}
