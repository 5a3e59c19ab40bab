// SPDX-License-Identifier: MIT
// Starts the page in a browser; elsewhere it only provides the functions that tests call.
import { App } from './app';
import { element } from './dom';
import { unpack } from './inflate';
import { traceOf } from './trace';

export { aboveIdle, aboveIdleSource, cpuRows, meanShare } from './above_idle';
export { boxesOf, changeOf, FlameMaker, foundTicks, guessMark } from './flame';
export { flowTrace } from './flow';
export { amount, count, duration, milliseconds, percent, roundStep, seconds } from './format';
export { HookMarks } from './hooks';
export { cpuLanes, mean, orderLanes, threadLanes } from './lanes';
export { makeRows, sortRows, visibleRows } from './rows';
export { brokenStacks } from './stacks';
export { shownRows, sortTree, treeOf } from './tables';
export { stateTrace } from './states';
export { shown, traceOf, waitTrace } from './trace';
export { WaitTexts } from './waits';
export { codeSelection, subjectThreads, sumOf, totals, whole } from './totals';

async function start(): Promise<void> {
  const root = document.getElementById('app')!;
  const data = document.getElementById('data')!;
  try {
    const trace = traceOf(await unpack(data.textContent!));
    data.remove();
    new App(root, trace);
  } catch (problem) {
    root.replaceChildren(element('p', { class: 'lost', role: 'alert' }, `The trace cannot be shown. ${problem instanceof Error ? problem.message : ''}`));
  }
  document.documentElement.dataset['ready'] = 'yes';
}

if (typeof document !== 'undefined') void start();
