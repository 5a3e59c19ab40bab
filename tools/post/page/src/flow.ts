// SPDX-License-Identifier: MIT
// The call flow of an instruction trace as paths, so that flame graphs are computed of instructions as of ticks.
import { kernelKind, linksBelow, markerKind, type Table, type Trace } from './trace';

const ownColumn = 1; // of the table: instructions without those of callees
const enteredBefore = '  (entered before the trace)';

// The name of a row is that of arc: symbol:module.
function frameOf(name: string): { symbol: string; module: string; kind: number } {
  const text = name.endsWith(enteredBefore) ? name.slice(0, -enteredBefore.length) : name;
  const colon = text.lastIndexOf(':');
  if (colon < 0) return { symbol: text, module: '', kind: markerKind };
  const module = text.slice(colon + 1);
  const kind = module === 'GAP' ? markerKind : module === 'vmlinux' ? kernelKind : 0;
  return { symbol: text.slice(0, colon), module, kind };
}

// The label of a thread begins with its ids in hexadecimal form: pid_tid_name.
function ownerOf(label: string): { pid: number; tid: number; name: string } {
  const parts = /^([0-9a-f]+)_([0-9a-f]+)_(.*)$/.exec(label);
  return parts ? { pid: parseInt(parts[1]!, 16), tid: parseInt(parts[2]!, 16), name: parts[3]! } : { pid: -1, tid: 0, name: label };
}

// A trace of one bin, whose paths are the rows of the table and whose amounts are their own instructions.
export function flowTrace(trace: Trace, flow: Table): Trace {
  const names = [''];
  const numbers = new Map<string, number>([['', 0]]);
  const number = (text: string) => {
    let known = numbers.get(text);
    if (known === undefined) numbers.set(text, (known = names.push(text) - 1));
    return known;
  };
  const frames = new Map<string, number>();
  const symbol: number[] = [];
  const module: number[] = [];
  const kind: number[] = [];
  const frameNumber = (name: string) => {
    const made = frameOf(name);
    const key = `${made.symbol}\n${made.module}`;
    let known = frames.get(key);
    if (known === undefined) {
      frames.set(key, (known = symbol.push(number(made.symbol)) - 1));
      module.push(number(made.module));
      kind.push(made.kind);
    }
    return known;
  };
  const processes = new Map<string, number>();
  const processName: number[] = [];
  const pid: number[] = [];
  const threadProcess: number[] = [];
  const tid: number[] = [];
  const above: number[] = [];
  const frame: number[] = [];
  const thread: number[] = [];
  const amount: number[] = [];
  const addThread = (label: string) => {
    const owner = ownerOf(label);
    const key = `${owner.pid} ${owner.name}`;
    let process = processes.get(key);
    if (process === undefined) {
      processes.set(key, (process = processName.push(number(owner.name)) - 1));
      pid.push(owner.pid);
    }
    threadProcess.push(process);
    tid.push(owner.tid);
  };
  const last: number[] = []; // by level: the path of the last row
  flow.level.forEach((level, row) => {
    if (level === 0) return addThread(flow.name[row]!);
    above.push(level === 1 ? -1 : last[level - 1]!);
    frame.push(frameNumber(flow.name[row]!));
    thread.push(tid.length - 1);
    last[level] = amount.push(flow.cells[ownColumn]![row]!) - 1;
  });
  const callers = Int32Array.from(above);
  const threadName = Int32Array.from(threadProcess, (process) => processName[process]!);
  return {
    ...trace,
    subject: '',
    hasStacks: true,
    binNs: 1,
    bins: 1,
    names,
    processName: Int32Array.from(processName),
    pid: Float64Array.from(pid),
    inSubject: new Uint8Array(pid.length),
    threadProcess: Int32Array.from(threadProcess),
    threadName,
    tid: Float64Array.from(tid),
    symbol: Int32Array.from(symbol),
    module: Int32Array.from(module),
    kind: Uint8Array.from(kind),
    above: callers,
    frame: Int32Array.from(frame),
    thread: Int32Array.from(thread),
    guessed: new Uint8Array(frame.length),
    ...linksBelow(callers),
    pathTicks: { rows: Int32Array.from({ length: amount.length + 1 }, (_, path) => path), bin: new Int32Array(amount.length), length: null, amount: Float64Array.from(amount) },
    schedule: null,
    waits: null,
    wakers: null,
    hooks: null,
    code: null,
    base: null,
  };
}
