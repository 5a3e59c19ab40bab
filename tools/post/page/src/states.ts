// SPDX-License-Identifier: MIT
// What threads did, running and off the CPU, as paths of one trace.
import { linksBelow, markerKind, type Sums, type Trace } from './trace';

const stateNames = ['[running]', '[waiting for a CPU]', '[blocked]'];

export function hasStates(trace: Trace): boolean {
  return trace.waits !== null && trace.tickNs > 0;
}

interface Part {
  of: { above: Int32Array; frame: Int32Array; thread: Int32Array; guessed: Uint8Array };
  sums: Sums;
  unit: number; // nanoseconds
  withIdle: boolean;
}

function join(a: Int32Array, b: number[]): Int32Array {
  const all = new Int32Array(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

// A trace whose paths begin with the state of their thread, and whose amounts are nanoseconds: a tick stands for the
// time from one to the next. The time of idle tasks is nobody's.
export function stateTrace(trace: Trace): Trace {
  const { waits, tickNs, tid: threads } = trace;
  if (!waits) throw new Error('The trace has no waits.');
  const parts: Part[] = [
    { of: trace, sums: trace.pathTicks, unit: tickNs, withIdle: false },
    { of: waits, sums: waits.runnable, unit: 1, withIdle: true },
    { of: waits, sums: waits.blocked, unit: 1, withIdle: true },
  ];
  const roots = parts.length * threads.length;
  const paths = roots + parts.reduce((sum, { of }) => sum + of.above.length, 0);
  const amounts = parts.reduce((sum, { sums }) => sum + sums.amount.length, 0);
  const above = new Int32Array(paths).fill(-1);
  const frame = new Int32Array(paths);
  const thread = new Int32Array(paths);
  const guessed = new Uint8Array(paths);
  const pathTicks = { rows: new Int32Array(paths + 1), bin: new Int32Array(amounts), length: new Int32Array(amounts), amount: new Float64Array(amounts) };
  for (let root = 0; root < roots; ++root) {
    thread[root] = root % threads.length;
    frame[root] = trace.symbol.length + Math.floor(root / threads.length);
  }
  let base = roots;
  let to = 0;
  parts.forEach(({ of, sums, unit, withIdle }, state) => {
    for (let path = 0; path < of.above.length; ++path) {
      const owner = of.thread[path]!;
      const caller = of.above[path]!;
      above[base + path] = caller < 0 ? state * threads.length + owner : base + caller;
      frame[base + path] = of.frame[path]!;
      thread[base + path] = owner;
      guessed[base + path] = of.guessed[path]!;
      const isLeftOut = !withIdle && trace.pid[trace.threadProcess[owner]!] === 0;
      for (let from = sums.rows[path]!; !isLeftOut && from < sums.rows[path + 1]!; ++from, ++to) {
        pathTicks.bin[to] = sums.bin[from]!;
        pathTicks.length[to] = sums.length ? sums.length[from]! : 1;
        pathTicks.amount[to] = sums.amount[from]! * unit;
      }
      pathTicks.rows[base + path + 1] = to;
    }
    base += of.above.length;
  });
  const firstName = trace.names.length;
  return {
    ...trace,
    names: [...trace.names, ...stateNames],
    symbol: join(trace.symbol, stateNames.map((_, state) => firstName + state)),
    module: join(trace.module, stateNames.map(() => 0)),
    kind: Uint8Array.from([...trace.kind, ...stateNames.map(() => markerKind)]),
    hasStacks: trace.hasStacks && waits.hasStacks,
    above,
    frame,
    thread,
    guessed,
    ...linksBelow(above),
    pathTicks,
    base: null,
    code: null,
  };
}
