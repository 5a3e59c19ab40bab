// SPDX-License-Identifier: MIT
// The rows of the timeline: what each CPU and thread did in each bin of time.
import type { Sums, Trace } from './trace';
import { threadText } from './trace';

// Shares of each bin, 0 to 1. What is in none of them is blocked, where `known` is 1, or nothing.
export interface Lane {
  name: string;
  thread: number; // -1: a CPU
  cpu: number; // -1: a thread, or several CPUs
  ticks: Float64Array; // by bin
  running: Float32Array;
  runnable: Float32Array | null; // null: the trace has no context switches
  unknown: Float32Array | null;
  known: Float32Array | null;
}

export function addSums(to: Float32Array | Float64Array, sums: Sums, row: number, scale = 1): void {
  for (let i = sums.rows[row]!; i < sums.rows[row + 1]!; ++i) {
    const first = sums.bin[i]!;
    const end = Math.min(to.length, first + (sums.length ? sums.length[i]! : 1));
    for (let bin = first; bin < end; ++bin) to[bin]! += sums.amount[i]! * scale;
  }
}

// How much of a bin a tick stands for. Where ticks count events, the fullest bin of a CPU is full.
export function tickShare(trace: Trace): number {
  if (trace.tickNs !== 0) return trace.tickNs / trace.binNs;
  let most = 1;
  for (const amount of trace.cpuTicks.amount) most = Math.max(most, amount);
  return 1 / most;
}

function limit(values: Float32Array): Float32Array {
  for (let i = 0; i < values.length; ++i) values[i] = Math.min(1, values[i]!);
  return values;
}

function shares(ticks: Float64Array, share: number): Float32Array {
  return limit(Float32Array.from(ticks, (number) => number * share));
}

export function cpuLanes(trace: Trace): Lane[] {
  const lanes = new Map<number, Lane>();
  const lane = (cpu: number) => {
    let made = lanes.get(cpu);
    if (!made) {
      const ticks = new Float64Array(trace.bins);
      made = { name: `CPU ${cpu}`, thread: -1, cpu, ticks, running: new Float32Array(trace.bins), runnable: null, unknown: null, known: null };
      lanes.set(cpu, made);
    }
    return made;
  };
  trace.cpuOfRow.forEach((cpu, row) => {
    const made = lane(cpu);
    if (trace.cpuIdle[row] === 0) addSums(made.ticks, trace.cpuTicks, row);
  });
  const { schedule } = trace;
  if (schedule)
    schedule.cpus.forEach((cpu, row) => addSums(lane(cpu).running, schedule.cpuRunning, row, 1 / trace.binNs));
  else for (const made of lanes.values()) made.running = shares(made.ticks, tickShare(trace));
  for (const made of lanes.values()) limit(made.running);
  return [...lanes].sort((a, b) => a[0] - b[0]).map(([, made]) => made);
}

const fewCpus = 8;

// The lanes of the timeline: the mean of several CPUs, each of them, then threads; many CPUs are after the threads. The mean is AboveIdle
// where the trace has all that ran on them.
export function orderLanes(cpus: Lane[], threads: Lane[], wholeCpus: boolean): Lane[] {
  if (cpus.length < 2) return [...cpus, ...threads];
  const bins = cpus[0]!.running.length;
  const all: Lane = { ...cpus[0]!, name: `${wholeCpus ? 'AboveIdle' : 'Mean'}, ${cpus.length} CPUs`, cpu: -1, ticks: new Float64Array(bins), running: new Float32Array(bins) };
  for (const cpu of cpus)
    for (let bin = 0; bin < bins; ++bin) {
      all.ticks[bin]! += cpu.ticks[bin]!;
      all.running[bin]! += cpu.running[bin]! / cpus.length;
    }
  return cpus.length <= fewCpus ? [all, ...cpus, ...threads] : [all, ...threads, ...cpus];
}

// The share of each bin in which the state of a thread is known.
function addKnown(to: Float32Array, from: number, until: number): void {
  for (let bin = Math.max(0, Math.floor(from)); bin < Math.min(to.length, Math.ceil(until)); ++bin)
    to[bin]! += Math.min(until, bin + 1) - Math.max(from, bin);
}

// The selected threads, those with the most ticks first, then those that ran longest; at most so many.
export function threadLanes(trace: Trace, threads: Uint8Array | null, most: number): { lanes: Lane[]; all: number } {
  const count = trace.tid.length;
  const weight = new Float64Array(count);
  const { rows, amount } = trace.pathTicks;
  for (let path = 0; path < trace.thread.length; ++path)
    for (let i = rows[path]!; i < rows[path + 1]!; ++i) weight[trace.thread[path]!]! += amount[i]!;
  const ran = new Float64Array(count);
  const { schedule } = trace;
  schedule?.thread.forEach((thread, row) => {
    const { running } = schedule;
    for (let i = running.rows[row]!; i < running.rows[row + 1]!; ++i)
      ran[thread]! += running.amount[i]! * (running.length ? running.length[i]! : 1);
  });
  const inSchedule = new Uint8Array(count);
  schedule?.thread.forEach((thread) => (inSchedule[thread] = 1));
  const chosen: number[] = [];
  for (let thread = 0; thread < count; ++thread) {
    const idle = trace.pid[trace.threadProcess[thread]!] === 0;
    if (!idle && (!threads || threads[thread] === 1) && (weight[thread]! > 0 || inSchedule[thread] === 1))
      chosen.push(thread);
  }
  chosen.sort((a, b) => weight[b]! - weight[a]! || ran[b]! - ran[a]! || a - b);
  return { lanes: chosen.slice(0, most).length ? makeLanes(trace, chosen.slice(0, most)) : [], all: chosen.length };
}

function makeLanes(trace: Trace, chosen: number[]): Lane[] {
  const place = new Int32Array(trace.tid.length).fill(-1);
  const bins = trace.bins;
  const { schedule } = trace;
  const empty = () => (schedule ? new Float32Array(bins) : null);
  const lanes = chosen.map((thread, at): Lane => {
    place[thread] = at;
    return {
      name: threadText(trace, thread),
      thread,
      cpu: -1,
      ticks: new Float64Array(bins),
      running: new Float32Array(bins),
      runnable: empty(),
      unknown: empty(),
      known: empty(),
    };
  });
  for (let path = 0; path < trace.thread.length; ++path) {
    const at = place[trace.thread[path]!]!;
    if (at >= 0) addSums(lanes[at]!.ticks, trace.pathTicks, path);
  }
  if (!schedule) {
    const share = tickShare(trace);
    for (const lane of lanes) lane.running = shares(lane.ticks, share);
    return lanes;
  }
  schedule.thread.forEach((thread, row) => {
    const lane = lanes[place[thread]!];
    if (!lane) return;
    const share = 1 / trace.binNs;
    addSums(lane.running, schedule.running, row, share);
    addSums(lane.runnable!, schedule.runnable, row, share);
    addSums(lane.unknown!, schedule.unknown, row, share);
    addKnown(lane.known!, schedule.from[row]!, schedule.to[row]!);
  });
  for (const lane of lanes) {
    limit(lane.running);
    limit(lane.runnable!);
    limit(lane.unknown!);
    limit(lane.known!);
  }
  return lanes;
}

// The mean of the bins from `from` to `to`, which may be fractions.
export function mean(values: Float32Array | Float64Array | null, from: number, to: number): number {
  if (!values || to <= from) return 0;
  let sum = 0;
  for (let bin = Math.floor(from); bin < Math.min(values.length, Math.ceil(to)); ++bin)
    sum += values[bin]! * (Math.min(to, bin + 1) - Math.max(from, bin));
  return sum / (to - from);
}
