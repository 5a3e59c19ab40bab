// SPDX-License-Identifier: MIT
// Tests what the HTML page computes: the functions of the script in tools/post/page/template.html, without a browser.
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import test from 'node:test';
import vm from 'node:vm';

const template = readFileSync(new URL('../../tools/post/page/template.html', import.meta.url), 'utf8');
const part = (tag) => new RegExp(`<${tag}>([^]*?)</${tag}>`).exec(template)[1];
const context = vm.createContext({ Intl, TextDecoder, atob });
vm.runInContext(part('script'), context);
const page = vm.runInContext('pitrace', context);
const plain = (value) => JSON.parse(JSON.stringify(value));

// Two processes with three threads. main calls work twice, once through parse; main is also called by itself.
function data() {
  return {
    schema: 'pitrace-html', schema_version: 1, program: 'post', subject: 'app:10', complete: true, lost: '', not_seen: [],
    facts: [['Host', 'vm']], notes: [], tick_count: 21, tick_ns: 1000, event: '', event_period: 0, stacks: true, whole_cpus: true,
    time: { first_bin_ns: 0, bin_ns: 4096, bins: 10 },
    names: ['', 'app', 'main', 'work', '/bin/app', 'parse', 'vmlinux', 'sys_read', '</script><img src=x onerror=alert(1)>'],
    processes: { name: [1, 8], pid: [10, 20], subject: [1, 0] },
    threads: { process: [0, 0, 1], name: [1, 1, 8], tid: [10, 11, 20] },
    frames: { symbol: [2, 3, 5, 7], module: [4, 4, 4, 6], kind: [0, 0, 0, 1] },
    // 0 main, 1 main>work, 2 main>parse, 3 main>parse>work, 4 main>main, 5 main>main>work, of thread 1: 6 work; 2: 7 sys_read
    paths: { left_out: 0, left_out_ticks: 0, above: [0, 1, 1, 3, 1, 5, 0, 0], frame: [0, 1, 2, 1, 0, 1, 1, 3], thread: [0, 0, 0, 0, 0, 0, 1, 2], guessed: [0, 0, 0, 0, 0, 0, 0, 0] },
    ticks: { sums: [1, 2, 1, 1, 0, 1, 1, 1], skip: [0, 1, 3, 2, 5, 9, 4, 2], amount: [1, 2, 3, 1, 4, 2, 5, 3] },
    cpu_ticks: { cpu: [0, 1, 1], idle: [0, 0, 1], sums: [1, 2, 1], skip: [0, 1, 4, 3], amount: [4, 2, 1, 7] },
    schedule: {
      thread: [0], from_ns: [4096], to_ns: [8 * 4096 + 2048],
      running: { sums: [2], skip: [1, 2], length: [1, 3], amount: [2048, 4096] },
      runnable: { sums: [0], skip: [], length: [], amount: [] },
      unknown: { sums: [0], skip: [], length: [], amount: [] },
      cpu_running: { cpu: [1], sums: [1], skip: [0], length: [10], amount: [1024] },
    },
  };
}

const trace = page.traceOf(data());
const all = page.totals(trace, page.whole(trace));

test('ticks on a path and on what it calls', () => {
  assert.deepEqual([...all.own], [1, 5, 1, 4, 0, 2, 5, 3]);
  assert.deepEqual([...all.all], [13, 5, 5, 4, 2, 2, 5, 3]);
  assert.equal(all.total, 21);
});

test('a selected time has the ticks of its bins only', () => {
  const sums = page.totals(trace, { from: 1, to: 5, threads: null });
  assert.deepEqual([...sums.own], [0, 5, 1, 0, 0, 0, 5, 3]);
  assert.equal(sums.total, 14);
  const parts = [0, 3, 4, 7, 10].slice(1).map((to, i) => page.totals(trace, { from: [0, 3, 4, 7][i], to, threads: null }).total);
  assert.equal(parts.reduce((a, b) => a + b), all.total);
});

test('the threads of the process that was profiled', () => {
  const threads = page.subjectThreads(trace);
  assert.deepEqual([...threads], [1, 1, 0]);
  assert.equal(page.totals(trace, { from: 0, to: 10, threads }).total, 18);
});

const flat = (rows) => rows.map(({ name, ticks, rows: below }) => (below.length ? [name, ticks, flat(below)] : [name, ticks]));

test('rows of each report: levels in any choice, sorted by ticks or name', () => {
  const rows = page.makeRows(trace, all, ['process', 'module', 'symbol']);
  page.sortRows(rows, 'ticks');
  assert.deepEqual(plain(flat(rows)), [
    ['app:10', 18, [['/bin/app', 18, [['work', 16], ['main', 1], ['parse', 1]]]]],
    ['</script><img src=x onerror=alert(1)>:20', 3, [['[kernel]', 3, [['sys_read', 3]]]]],
  ]);
  const byName = page.makeRows(trace, all, ['symbol']);
  page.sortRows(byName, 'name');
  assert.deepEqual(plain(flat(byName)), [['main', 1], ['parse', 1], ['sys_read', 3], ['work', 16]]);
  assert.deepEqual(plain(flat(page.makeRows(trace, all, ['thread']))), [['app:10', 13], ['app:11', 5], ['</script><img src=x onerror=alert(1)>:20', 3]]);
});

test('a search shows rows with the name, and those that contain them', () => {
  const rows = page.makeRows(trace, all, ['process', 'module', 'symbol']);
  page.sortRows(rows, 'ticks');
  const shown = page.visibleRows(rows, new Set(), 'PARSE').map(({ row, depth }) => [row.name, depth]);
  assert.deepEqual(plain(shown), [['app:10', 0], ['/bin/app', 1], ['parse', 2]]);
  assert.equal(page.visibleRows(rows, new Set(), '').length, 2);
  assert.equal(page.visibleRows(rows, new Set(), 'nothing').length, 0);
});

const nodes = (node) => [node.name, node.ticks, ...node.below().map(nodes)];
const maker = new page.FlameMaker(trace, all);

test('the flame graph joins paths of all threads', () => {
  assert.deepEqual(plain(nodes(maker.callees('none'))), [
    'all', 21,
    ['main', 13, ['parse', 5, ['work', 4]], ['work', 5], ['main', 2, ['work', 2]]],
    ['work', 5],
    ['sys_read', 3],
  ]);
});

test('the inverse has the function with the ticks first, then its callers', () => {
  assert.deepEqual(plain(nodes(maker.callers('none'))), [
    'all', 21,
    ['work', 16, ['main', 7, ['main', 2]], ['parse', 4, ['main', 4]]],
    ['sys_read', 3],
    ['main', 1],
    ['parse', 1, ['main', 1]],
  ]);
});

test('divided by process or thread', () => {
  const names = (node) => plain(node.below().map(({ name, ticks }) => [name, ticks]));
  assert.deepEqual(names(maker.callees('process')), [['app:10', 18], ['</script><img src=x onerror=alert(1)>:20', 3]]);
  assert.deepEqual(names(maker.callers('thread')), [['app:10', 13], ['app:11', 5], ['</script><img src=x onerror=alert(1)>:20', 3]]);
});

test('callers and callees of a function count recursion once', () => {
  const { callers, callees } = maker.sandwich(0);
  assert.equal(callees.ticks, 13);
  assert.equal(callees.own, 1);
  assert.deepEqual(plain(nodes(callees)), ['main', 13, ['parse', 5, ['work', 4]], ['work', 5], ['main', 2, ['work', 2]]]);
  assert.deepEqual(plain(nodes(callers)), ['main', 13]);
  assert.deepEqual(plain(nodes(maker.sandwich(1).callers)), ['work', 16, ['main', 7, ['main', 2]], ['parse', 4, ['main', 4]]]);
});

// main is a guess in paths 0 and 4, which has two ticks; main>parse is another path of a thread of its own, where it is certain.
test('functions that are guesses have the ticks for which they are', () => {
  const given = data();
  given.paths.guessed = [1, 0, 0, 0, 1, 0, 0, 0];
  given.paths.above.push(0);
  given.paths.frame.push(0);
  given.paths.thread.push(1);
  given.paths.guessed.push(0);
  given.ticks.sums.push(1);
  given.ticks.skip.push(0);
  given.ticks.amount.push(4);
  const trace = page.traceOf(given);
  const maker = new page.FlameMaker(trace, page.totals(trace, page.whole(trace)));
  const marked = (node) => [node.name + page.guessMark(node), node.ticks, node.guessed, ...node.below().map(marked)];
  assert.deepEqual(plain(marked(maker.callees('none'))), [
    'all', 25, 0,
    ['main [guessed in part]', 17, 13, ['parse', 5, 0, ['work', 4, 0]], ['work', 5, 0], ['main [guessed]', 2, 2, ['work', 2, 0]]],
    ['work', 5, 0],
    ['sys_read', 3, 0],
  ]);
  assert.deepEqual(plain(marked(maker.callers('none'))), [
    'all', 25, 0,
    ['work', 16, 0, ['main [guessed]', 7, 7, ['main [guessed]', 2, 2]], ['parse', 4, 0, ['main [guessed]', 4, 4]]],
    ['main [guessed in part]', 5, 1],
    ['sys_read', 3, 0],
    ['parse', 1, 0, ['main [guessed]', 1, 1]],
  ]);
  const { callers, callees } = maker.sandwich(0);
  assert.deepEqual([callers.guessed, callees.guessed], [13, 13]);
  given.base = withBase().base;
  given.frames = withBase().frames;
  given.names.push('gone');
  const compared = page.traceOf(given);
  const root = new page.FlameMaker(compared, page.totals(compared, page.whole(compared))).compared(null);
  const main = root.below()[0];
  assert.deepEqual([main.name, main.ticks, main.guessed, main.base], ['main', 17, 13, 100]);
});

test('boxes are as wide as their shares, and narrow ones are left out', () => {
  const root = maker.callees('none');
  const main = root.below()[0];
  const boxes = page.boxesOf(main, 0.2);
  assert.deepEqual(plain(boxes.map(({ node, x, width, row }) => [node.name, +x.toFixed(3), +width.toFixed(3), row])), [
    ['all', 0, 1, 0], ['main', 0, 1, 1], ['parse', 0, 0.385, 2], ['work', 0, 0.308, 3], ['work', 0.385, 0.385, 2],
  ]);
  assert.equal(page.foundTicks(boxes, main, (node) => node.name === 'work'), 9);
});

test('the timeline has the shares of each bin', () => {
  const { lanes, all: count } = page.threadLanes(trace, null, 2);
  assert.equal(count, 3);
  assert.deepEqual(plain(lanes.map(({ name }) => name)), ['app:10', 'app:11']);
  assert.deepEqual([...lanes[0].running], [0, 0.5, 0, 1, 1, 1, 0, 0, 0, 0]);
  assert.deepEqual([...lanes[0].known], [0, 1, 1, 1, 1, 1, 1, 1, 0.5, 0]);
  assert.deepEqual([...lanes[0].ticks], [1, 2, 1, 0, 3, 4, 0, 0, 0, 2]);
  const cpus = page.cpuLanes(trace);
  assert.deepEqual(plain(cpus.map(({ name }) => name)), ['CPU 0', 'CPU 1']);
  assert.deepEqual([...cpus[1].running], Array(10).fill(0.25));
  assert.equal(cpus[1].ticks[3], 0, 'ticks of the idle task are not work');
  assert.equal(page.mean(lanes[0].running, 1, 4), 0.5);
  assert.equal(page.mean(lanes[0].running, 1.5, 2.5), 0.25);
});

test('of many CPUs the timeline begins with their mean', () => {
  const few = page.cpuLanes(trace);
  assert.deepEqual(plain(page.orderLanes(few, [], true).map(({ name }) => name)), ['AboveIdle, 2 CPUs', 'CPU 0', 'CPU 1']);
  assert.equal(page.orderLanes([few[1]], [], true)[0].name, 'CPU 1');
  const many = Array(64).fill(few[1]);
  const { lanes } = page.threadLanes(trace, null, 2);
  const ordered = page.orderLanes(many, lanes, true);
  assert.deepEqual(plain(ordered.map(({ name }) => name).slice(0, 4)), ['AboveIdle, 64 CPUs', 'app:10', 'app:11', 'CPU 1']);
  assert.deepEqual([...ordered[0].running], Array(10).fill(0.25));
  assert.equal(ordered[0].ticks[1], 128);
});

test('without context switches the timeline shows ticks', () => {
  const given = data();
  given.schedule = null;
  const cpus = page.cpuLanes(page.traceOf(given));
  assert.deepEqual([...cpus[0].running].slice(0, 2).map((share) => +share.toFixed(4)), [0.9766, 0]);
});

test('an empty trace is computed, too', () => {
  const given = data();
  for (const table of ['frames', 'paths', 'ticks', 'cpu_ticks', 'processes', 'threads'])
    for (const name of Object.keys(given[table])) given[table][name] = Array.isArray(given[table][name]) ? [] : 0;
  Object.assign(given, { schedule: null, tick_count: 0, names: [''], time: { first_bin_ns: 0, bin_ns: 1024, bins: 0 } });
  const empty = page.traceOf(given);
  const sums = page.totals(empty, page.whole(empty));
  assert.equal(sums.total, 0);
  assert.equal(page.makeRows(empty, sums, ['symbol']).length, 0);
  assert.deepEqual(plain(nodes(new page.FlameMaker(empty, sums).callees('none'))), ['all', 0]);
});

// work has two instructions on line 7 and one without a line; ticks of work on path 5 (bin 9 of thread 0) are left out.
function withCode() {
  const given = data();
  given.names.push('/src/a.c', 'x += 1;', 'add eax, 1', 'ret', 'helper'); // 9 to 13
  given.code = {
    bins: 1, before: 0, left_out_ticks: 0, sources: [['/src/a.c', '']],
    lines: { file: [9], line: [7], text: [10] },
    instructions: { frame: [1, 1, 1], line: [1, 1, 0], offset: [0, 28, 40], text: [11, 12, 0], inlined: [0, 13, 0] },
    ticks: { thread: [0, 0, 1], instruction: [0, 1, 2], sums: [2, 2, 1], skip: [1, 1, 3, 2, 4], amount: [2, 3, 1, 3, 5] },
  };
  return given;
}

test('lines and instructions are levels of the table, with their ticks of the selected time', () => {
  const trace = page.traceOf(withCode());
  const selection = page.whole(trace);
  const rows = page.makeRows(trace, page.totals(trace, selection), ['symbol', 'line', 'instruction'], selection);
  page.sortRows(rows, 'ticks');
  assert.deepEqual(plain(flat(rows)), [
    ['work', 16, [
      ['a.c:7', 9, [['+0 add eax, 1', 5], ['+1c ret  (in helper, inlined)', 4]]],
      ['(line not known)', 7, [['+28', 5]]],
    ]],
    ['sys_read', 3], ['main', 1], ['parse', 1],
  ]);
  assert.equal(rows[0].rows[0].source, 'x += 1;');
  const part = { from: 3, to: 5, threads: null };
  const lines = page.makeRows(trace, page.totals(trace, part), ['line'], part);
  page.sortRows(lines, 'ticks');
  assert.deepEqual(plain(flat(lines)), [['(line not known)', 7], ['a.c:7', 1]]);
});

test('ticks on an instruction whose path was left out are moved from [left out]', () => {
  const given = withCode();
  given.frames.symbol[2] = 0; // parse is [left out]
  given.frames.kind[2] = 2;
  given.paths.frame[1] = 2; // main>work was joined
  const trace = page.traceOf(given);
  const selection = page.whole(trace);
  const rows = page.makeRows(trace, page.totals(trace, selection), ['thread', 'symbol', 'line'], selection);
  page.sortRows(rows, 'ticks');
  const first = plain(flat(rows))[0];
  assert.equal(first[1], 13);
  assert.deepEqual(first[2], [['work', 9, [['a.c:7', 9]]], ['', 3], ['main', 1]]);
});

test('where lines are known by longer stretches of time, whole ones are selected', () => {
  const given = withCode();
  given.code.bins = 4;
  given.code.before = 2;
  const trace = page.traceOf(given);
  const { from, to } = page.codeSelection(trace, { from: 3, to: 7, threads: null });
  assert.deepEqual([from, to], [2, 10]);
  assert.deepEqual(plain(page.codeSelection(trace, page.whole(trace))), { from: 0, to: 10, threads: null });
});

test('programs have the ticks whose stacks are broken or cut, in the selected time', () => {
  const given = data();
  given.names.push('[broken]', '[cut]_[k]'); // 9, 10
  given.frames.symbol.push(9, 10);
  given.frames.module.push(0, 0);
  given.frames.kind.push(2, 2);
  // 8 [broken], 9 work below it, 10 [cut]_[k] below that, 11 sys_read below that, of thread 0; 12 [cut]_[k], 13 sys_read, of thread 2
  given.paths.above.push(0, 9, 10, 11, 0, 13);
  given.paths.frame.push(4, 1, 5, 3, 5, 3);
  given.paths.thread.push(0, 0, 0, 0, 2, 2);
  given.paths.guessed.push(0, 0, 0, 0, 0, 0);
  given.ticks.sums.push(0, 1, 0, 1, 0, 1);
  given.ticks.skip.push(2, 8, 8);
  given.ticks.amount.push(10, 20, 7);
  const trace = page.traceOf(given);
  assert.deepEqual(plain(page.brokenStacks(trace, page.totals(trace, page.whole(trace))).map(({ program, ticks, broken, cut, module }) => [program, ticks, broken, cut, module])), [
    ['app', 48, 30, 0, '/bin/app'],
    ['</script><img src=x onerror=alert(1)>', 10, 0, 7, ''],
  ]);
  const part = page.brokenStacks(trace, page.totals(trace, { from: 0, to: 5, threads: null }));
  assert.deepEqual(plain(part.map(({ ticks, broken, cut }) => [ticks, broken, cut])), [[22, 10, 0]]);
  assert.equal(page.brokenStacks(page.traceOf(data()), page.totals(page.traceOf(data()), page.whole(trace))).length, 0);
});

// The other trace: app (name 1) main 40 ticks in itself, main>work 50, main>gone 10; another process (name 8) sys_read 100.
function withBase() {
  const given = data();
  given.names.push('gone');
  given.frames.symbol.push(9);
  given.frames.module.push(4);
  given.frames.kind.push(0);
  given.base = { trace: 'old.nrm2', ticks: 200, paths: { above: [0, 1, 1, 0], frame: [0, 1, 4, 3], process: [1, 1, 1, 8], ticks: [40, 50, 10, 100] } };
  return given;
}

test('compared with another trace, functions have the ticks of both', () => {
  const trace = page.traceOf(withBase());
  const maker = new page.FlameMaker(trace, page.totals(trace, page.whole(trace)));
  const both = (node) => [node.name, node.ticks, node.base, ...node.below().map(both)];
  assert.deepEqual(plain(both(maker.compared(null))), [
    'all', 21, 200,
    ['main', 13, 100, ['work', 5, 50], ['parse', 5, 0, ['work', 4, 0]], ['main', 2, 0, ['work', 2, 0]], ['gone', 0, 10]],
    ['work', 5, 0],
    ['sys_read', 3, 100],
  ]);
  const app = maker.compared(new Set([1]));
  assert.equal(app.base, 100);
  const boxes = page.boxesOf(maker.compared(null), 0.01, 'base').map(({ node, width }) => [node.name, width]);
  assert.deepEqual(plain(boxes), [['all', 1], ['main', 0.5], ['work', 0.25], ['gone', 0.05], ['sys_read', 0.5]]);
});

test('a change of a share is real if chance alone hardly causes it', () => {
  const root = { ticks: 1000, base: 2000 };
  const small = page.changeOf({ ticks: 110, base: 200 }, root);
  assert.equal(+small.change.toFixed(3), 0.01);
  assert.ok(small.isNoise); // 0.01 of a deviation of 0.0118
  assert.ok(!page.changeOf({ ticks: 150, base: 200 }, root).isNoise);
});

// Thread 10 (app) waits in main>sys_read, sleeping; the thread of the other process was preempted.
function withWaits() {
  const given = data();
  given.names.push('[sleeping]', '[preempted]'); // 9, 10
  given.frames.symbol.push(9, 10);
  given.frames.module.push(0, 0);
  given.frames.kind.push(2, 2);
  given.waits = {
    stacks: true, left_out: 0, left_out_ns: 0,
    above: [0, 1, 2, 0], frame: [0, 3, 4, 5], thread: [0, 0, 0, 2], guessed: [1, 0, 0, 0],
    blocked: { sums: [0, 0, 3, 0], skip: [0, 2, 3], length: [1, 3, 1], amount: [1000, 4096, 2000] },
    runnable: { sums: [0, 0, 1, 1], skip: [6, 1], length: [1, 2], amount: [500, 4096] },
  };
  return given;
}

test('where threads were blocked or waited for a CPU, in the selected time', () => {
  const trace = page.traceOf(withWaits());
  const graph = (kind, part = {}) => {
    const of = page.waitTrace(trace, kind);
    return new page.FlameMaker(of, page.totals(of, { ...page.whole(trace), ...part }));
  };
  const blocked = 1000 + 3 * 4096 + 2000;
  assert.deepEqual(plain(nodes(graph('blocked').callees('none'))), ['all', blocked, ['main', blocked, ['sys_read', blocked, ['[sleeping]', blocked]]]]);
  assert.equal(graph('blocked', { from: 3, to: 6 }).callees('none').ticks, 2 * 4096 + 2000);
  assert.deepEqual(plain(nodes(graph('blocked', { from: 1, to: 2 }).callees('none'))), ['all', 0]);
  assert.deepEqual(plain(nodes(graph('runnable').callers('none'))), ['all', 8692, ['[preempted]', 8192], ['[sleeping]', 500, ['sys_read', 500, ['main', 500]]]]);
  assert.deepEqual(plain(graph('runnable').callees('process').below().map(({ name, ticks }) => [name, ticks])), [
    ['</script><img src=x onerror=alert(1)>:20', 8192], ['app:10', 500],
  ]);
  assert.equal(graph('runnable', { threads: page.subjectThreads(trace) }).callees('none').ticks, 500);
  assert.equal(page.guessMark(graph('blocked').callees('none').below()[0]), ' [guessed]');
  assert.equal(page.traceOf(data()).waits, null);
});

test('all of the time of threads by state, without idle tasks', () => {
  const given = withWaits();
  given.processes.pid[1] = 0; // the idle tasks
  const trace = page.traceOf(given);
  const of = page.stateTrace(trace);
  const graph = (part = {}) => new page.FlameMaker(of, page.totals(of, { ...page.whole(trace), ...part }));
  const ticks = page.totals(trace, page.whole(trace));
  const idle = trace.above.reduce((sum, _, path) => sum + (trace.pid[trace.threadProcess[trace.thread[path]]] === 0 ? ticks.own[path] : 0), 0);
  const blocked = 1000 + 3 * 4096 + 2000;
  assert.ok(idle > 0 && idle < ticks.total);
  const states = Object.fromEntries(graph().callees('none').below().map(({ name, ticks: ns }) => [name, ns]));
  assert.deepEqual(states, { '[running]': (ticks.total - idle) * trace.tickNs, '[blocked]': blocked, '[waiting for a CPU]': 8692 });
  // Below a state are its paths; the same function can be in several.
  const below = graph().callees('none').below().find(({ name }) => name === '[blocked]');
  assert.deepEqual(plain(nodes(below)), ['[blocked]', blocked, ['main', blocked, ['sys_read', blocked, ['[sleeping]', blocked]]]]);
  // By process and in a part of the time: the other process only waited for a CPU.
  const part = graph({ threads: page.subjectThreads(trace), from: 3, to: 7 });
  assert.deepEqual(plain(part.callees('process').below().map(({ name }) => name)), ['app:10']);
  assert.equal(part.callees('none').below().find(({ name }) => name === '[blocked]').ticks, 2 * 4096 + 2000);
  assert.equal(part.callees('none').below().find(({ name }) => name === '[waiting for a CPU]').ticks, 500);
});

test('why a thread was off the CPU in a bin, and who woke it then or next', () => {
  const given = withWaits();
  given.wakers = { thread: [0, 0, 2], waker: [0, 5, 1], sums: [2, 1, 1], skip: [5, 2, 7, 1], amount: [1, 1, 3, 1] };
  const texts = new page.WaitTexts(page.traceOf(given));
  assert.equal(texts.waits(0, 0), '[sleeping] in main 1.00 µs'); // sys_read is of the kernel
  assert.equal(texts.waits(0, 4), '[sleeping] in main 4.10 µs');
  assert.equal(texts.waits(0, 1), '');
  assert.equal(texts.waits(2, 2), '[preempted] 4.10 µs');
  assert.equal(texts.waits(1, 2), '');
  assert.equal(texts.wakes(0, 5), 'woken by an interrupt');
  assert.equal(texts.wakes(0, 2), 'woken at 0.000020 s by an interrupt');
  assert.equal(texts.wakes(0, 7), 'woken by </script><img src=x onerror=alert(1)>:20 (3 times), an interrupt');
  assert.equal(texts.wakes(0, 8), '');
  assert.equal(texts.wakes(2, 1), 'woken by the idle task');
  const none = new page.WaitTexts(page.traceOf(data()));
  assert.deepEqual([none.waits(0, 2), none.wakes(0, 2)], ['', '']);
});

test('user hooks of a CPU and of a thread, as marks and as texts', () => {
  const given = data();
  given.hooks = {
    without_text: 5, left_out: 0, major: [0x55, 0x55, 0xfe], minor: [7, 7, 0xffffffff], text: [0, 8, 0], cpu: [0, 0, 1], thread: [1, 1, 0],
    sums: [2, 1, 1], skip: [2, 3, 5, 7], amount: [1, 4, 1, 2],
  };
  const marks = new page.HookMarks(page.traceOf(given));
  assert.deepEqual(plain(marks.bins(0, -1)), [2, 5]);
  assert.deepEqual(plain(marks.bins(-1, 0)), [2, 5]);
  assert.deepEqual(plain(marks.bins(1, -1)), [7]);
  assert.deepEqual(plain(marks.bins(-1, 1)), []);
  assert.deepEqual(plain(marks.bins(-1, -1)), []); // several CPUs
  assert.equal(marks.texts(0, -1, 3, 6), 'hook 55 7 (4 times), hook 55 7 “</script><img src=x onerror=alert(1)>”');
  assert.equal(marks.texts(-1, 0, 2, 3), 'hook 55 7');
  assert.equal(marks.texts(1, -1, 0, 10), 'hook fe ffffffff (2 times)');
  assert.equal(marks.texts(0, -1, 3, 5), '');
  assert.equal(marks.lack(), 'The texts of 5 hooks are left out.');
  assert.deepEqual(plain(new page.HookMarks(page.traceOf(data())).bins(0, -1)), []);
});

test('data of another version are refused', () => {
  assert.throws(() => page.traceOf({ ...data(), schema_version: 2 }), /another version/);
});

test('characters that change the direction of text are replaced', () => {
  assert.equal(page.shown('a\u202eb\u2066c'), 'a\ufffdb\ufffdc');
});

test('numbers', () => {
  assert.deepEqual([page.percent(1, 3), page.percent(3, 3), page.percent(0, 3), page.percent(1, 1e6), page.percent(1e6 - 1, 1e6), page.percent(0, 0)], ['33.3', '100.0', '0.0', '<0.1', '>99.9', '0.0']);
  assert.deepEqual([0, 12, 1500, 2.5e6, 1.25e9, 75e9, 3900e9].map(page.duration), ['0 s', '12 ns', '1.50 µs', '2.50 ms', '1.25 s', '1 min 15 s', '1 h 05 min']);
  assert.deepEqual([page.milliseconds(1234567890), page.milliseconds(0)], ['1,234.568 ms', '0.000 ms']);
  assert.deepEqual([page.count(1234567), page.seconds(1.25e9, 1e8), page.seconds(3e9, 1e9)], ['1,234,567', '1.3 s', '3 s']);
  assert.deepEqual([page.roundStep(0.3), page.roundStep(2), page.roundStep(51)], [0.5, 2, 100]);
});

test('the policy permits this script and style, and nothing else', () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(template)[1];
  const hash = (text) => createHash('sha256').update(text).digest('base64');
  assert.equal(policy, `default-src 'none'; script-src 'sha256-${hash(part('script'))}'; style-src 'sha256-${hash(part('style'))}'; base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'`);
  assert.equal(template.split('<script').length, 2);
  assert.doesNotMatch(template.replace(part('script'), ''), /\son\w+=|https?:/);
  for (const word of ['innerHTML', 'outerHTML', 'insertAdjacentHTML', 'document.write', 'eval(', 'new Function', 'fetch(', 'XMLHttpRequest', 'WebSocket', 'import('])
    assert.ok(!part('script').includes(word), word);
});

test('a table of another program as a tree: sorted, opened and searched', () => {
  const given = data();
  given.tables = [
    {
      title: 'Call trees: CYCLES', file: 'log-rt.1_4711.json', facts: [['Unit', 'cycles']], columns: ['calls', 'itself'],
      level: [0, 1, 2, 1, 0], name: [1, 3, 8, 5, 2], cells: [[1, 2, 3, 9, 4], [0, 10, -0.5, 20, 7]],
    },
  ];
  const [table] = page.traceOf(given).tables;
  assert.deepEqual(plain(table.facts), [{ lead: 'Unit', text: 'cycles' }]);
  const rows = page.treeOf(table);
  const names = (list) => plain(list.map(({ row, depth }) => `${depth} ${table.name[row]}`));
  const shown = (open, search = '', most = 99) => names(page.shownRows(table, rows, open, search, most));
  const none = new Set();
  assert.deepEqual(shown(none), ['0 app', '0 main']);
  assert.deepEqual(shown(new Set([rows[0]])), ['0 app', '1 work', '1 parse', '0 main']);
  page.sortTree(table, rows, 1);
  assert.deepEqual(shown(new Set(rows)), ['0 main', '0 app', '1 parse', '1 work']);
  page.sortTree(table, rows, -1);
  assert.deepEqual(shown(new Set(rows)), ['0 app', '1 parse', '1 work', '0 main']);
  // A number that is not available is the last one.
  given.tables[0].cells[1][0] = null;
  const lacking = page.traceOf(given).tables[0];
  const sorted = page.treeOf(lacking);
  page.sortTree(lacking, sorted, 1);
  assert.deepEqual(names(sorted), ['0 main', '0 app']);
  assert.deepEqual([page.amount(lacking.cells[1][0]), page.amount(-0.5), page.amount(0)], ['–', '-0.5', '0']);
  assert.deepEqual(shown(none, 'IMG'), ['0 app', '1 work', '2 </script><img src=x onerror=alert(1)>']);
  assert.deepEqual(shown(new Set(rows), '', 2), ['0 app', '1 parse']);
  assert.deepEqual(plain(page.traceOf(data()).tables), []);
});

test('the call flow: a table in the order of calls, and flame graphs of instructions', () => {
  const given = data();
  given.names.push('0014_0015_a_b', 'main:/bin/app  (entered before the trace)', 'main:/bin/app', 'read:vmlinux', 'Gap_entry:GAP', '0014_0014_c', '</script>:x'); // 9 to 15
  given.flow = {
    title: 'Call flow', file: '', facts: [['Instructions', '15']], order: 'first call', columns: ['calls', 'instructions', '% of thread', 'with calls'],
    level: [0, 1, 2, 3, 2, 0, 1], name: [9, 10, 12, 13, 11, 14, 15],
    cells: [[0, 0, 1, 1, 2, 0, 1], [0, 3, 4, 1, 2, 0, 5], [100, 100, 50, 10, 20, 100, 100], [10, 10, 5, 1, 2, 5, 5]],
  };
  const whole = page.traceOf(given);
  const { flow } = whole;
  const rows = page.treeOf(flow);
  const open = new Set([rows[0], ...rows[0].rows]);
  const shown = () => plain(page.shownRows(flow, rows, open, '', 99).map(({ row }) => row));
  page.sortTree(flow, rows, -2);
  assert.deepEqual(shown(), [0, 1, 2, 4, 5]);
  page.sortTree(flow, rows, -1);
  assert.deepEqual(shown(), [5, 0, 1, 4, 2]);
  page.sortTree(flow, rows, 3);
  assert.deepEqual(shown(), [0, 1, 2, 4, 5]);
  const trace = page.flowTrace(whole, flow);
  const maker = new page.FlameMaker(trace, page.totals(trace, page.whole(trace)));
  assert.deepEqual(plain(nodes(maker.callees('thread'))), [
    'all', 15,
    ['a_b:21', 10, ['main', 10, ['read', 5, ['Gap_entry', 1]], ['main', 2]]],
    ['c:20', 5, ['</script>', 5]],
  ]);
  assert.deepEqual(plain(maker.callers('none').below().map(({ name, ticks }) => [name, ticks])), [['</script>', 5], ['main', 5], ['read', 4], ['Gap_entry', 1]]);
  assert.equal(maker.sandwich(0).callees.ticks, 10, 'recursion counts once');
  assert.equal(page.traceOf(data()).flow, null);
});

test('AboveIdle is the share of a time in which a CPU was not idle', () => {
  const cpus = page.cpuLanes(trace);
  // CPU 1 ran a thread for a quarter of each bin; of CPU 0 there are no context switches.
  assert.deepEqual(plain(page.aboveIdle(trace, cpus, 0, 10)), [{ cpu: 0, share: 0 }, { cpu: 1, share: 0.25 }]);
  assert.equal(page.meanShare(page.aboveIdle(trace, cpus, 2, 3)), 0.125);
  // Without context switches, from ticks: CPU 0 has 4 in bin 0, CPU 1 has 2 in bin 1 and one in bin 5; each is 1000 of 4096 ns.
  const given = data();
  given.schedule = null;
  const ofTicks = (from, to, more) => {
    const read = { ...page.traceOf(given), ...more };
    return plain(page.aboveIdle(read, page.cpuLanes(read), from, to).map(({ share }) => +share.toFixed(6)));
  };
  assert.deepEqual(ofTicks(0, 2), [+(4000 / 8192).toFixed(6), +(2000 / 8192).toFixed(6)]);
  // A bin with more ticks than fit into it is as full as its neighbours let it be, and no time is more than full.
  assert.deepEqual(ofTicks(0, 4, { tickNs: 2048 }), [0.5, 0.25]);
  assert.deepEqual(ofTicks(0, 1, { tickNs: 2048 }), [1, 0]);
  assert.equal(page.meanShare([]), 0);
});

test('no time is called idle where the trace has some processes only', () => {
  const given = data();
  const texts = (trace) => page.cpuRows(trace, page.aboveIdle(trace, page.cpuLanes(trace), 0, 10)).map(([name]) => name);
  assert.deepEqual(plain(texts(page.traceOf(given))), ['All 2 CPUs', 'CPU 0', 'CPU 1']);
  for (const part of [false, undefined]) {
    given.whole_cpus = part;
    const trace = page.traceOf(given);
    assert.deepEqual(plain(texts(trace)), ['CPU 0', 'CPU 1']);
    assert.match(page.aboveIdleSource(trace), /no ticks of other processes/);
    assert.equal(page.orderLanes(page.cpuLanes(trace), [], trace.wholeCpus)[0].name, 'Mean, 2 CPUs');
  }
});
