// SPDX-License-Identifier: MIT
// The summary: facts on the trace, the hottest functions, and what the trace lacks.
import { aboveIdle, aboveIdleSource, cpuRows } from './above_idle';
import { element } from './dom';
import { count, duration, milliseconds, percent } from './format';
import { cpuLanes } from './lanes';
import { makeRows, sortRows } from './rows';
import { brokenStacks } from './stacks';
import type { State } from './state';
import { moduleText, type Fact } from './trace';

const shownFunctions = 12;
const shownPrograms = 12;
const shownCpus = 16;

// Leads of sentences on what is missing in the trace or wrong with it.
const warning = /^(Cannot see|Lost|Missed|Damaged|Throttled|Selects nothing|Broken|Cut|Unreadable|Without)/;

export class SummaryView {
  readonly box = element('section', { class: 'summary', 'aria-label': 'Summary' });
  private readonly functions = element('div');
  private readonly stacks = element('div');
  private readonly idle = element('div');
  private readonly cpus;

  constructor(private readonly state: State) {
    const { trace } = state;
    this.cpus = cpuLanes(trace);
    this.box.append(this.functions, this.idle);
    this.box.append(element('h2', {}, 'The trace'), this.list(trace.facts));
    const lacks = trace.notes.filter(({ lead }) => warning.test(lead));
    const others = trace.notes.filter(({ lead }) => !warning.test(lead));
    this.box.append(element('h2', {}, 'What is missing'));
    const leftOut: Fact[] =
      trace.leftOut === 0
        ? []
        : [
            {
              lead: 'Left out of this page',
              text:
                `${count(trace.leftOut)} rare call paths with ${count(trace.leftOutTicks)} ticks are joined and ` +
                `shown as [left out].`,
            },
          ];
    if (trace.waits && trace.waits.leftOut > 0)
      leftOut.push({
        lead: 'Waits left out',
        text: `${count(trace.waits.leftOut)} rare call paths on which threads waited for ${milliseconds(trace.waits.leftOutNs)} are joined and shown as [left out].`,
      });
    if (trace.code && trace.code.leftOutTicks > 0)
      leftOut.push({ lead: 'Lines left out', text: `Functions with together ${count(trace.code.leftOutTicks)} ticks have no lines and instructions here.` });
    const losses = this.list([{ lead: 'Losses', text: trace.lost }, ...lacks, ...leftOut]);
    this.box.append(losses, this.stacks);
    const { sources } = trace.code ?? { sources: [] };
    if (sources.length)
      this.box.append(
        element('h2', {}, 'Source files'),
        this.list(sources.map(({ path, problem }) => ({ lead: path, text: problem || 'This page has the text of its lines with ticks.' }))),
      );
    if (others.length) this.box.append(element('h2', {}, 'Notes'), this.list(others));
    this.box.append(element('p', { class: 'muted' }, trace.program.split('\n')[0]!));
  }

  private list(facts: Fact[]): HTMLElement {
    const list = element('dl');
    for (const { lead, text } of facts) list.append(element('dt', {}, lead), element('dd', {}, text));
    return list;
  }

  // AboveIdle of the selected time; without idle time where other processes are missing.
  private renderIdle(): void {
    this.idle.replaceChildren();
    const { from, to, trace } = this.state;
    const all = aboveIdle(trace, this.cpus, from, to);
    if (all.length === 0) return;
    const number = (tag: 'td' | 'th', text: string) => element(tag, { class: 'number' }, text);
    const row = ([name, share]: [string, number]) =>
      element('tr', {}, element('td', {}, name), number('td', `${percent(share, 1)} %`), ...(trace.wholeCpus ? [number('td', `${percent(1 - share, 1)} %`)] : []));
    const rows = cpuRows(trace, all);
    const body = element('tbody', {}, ...rows.slice(0, shownCpus + rows.length - all.length).map(row));
    const titles = (trace.wholeCpus ? ['Above idle', 'Idle'] : ['Used']).map((text) => number('th', text));
    const head = element('thead', {}, element('tr', {}, element('th', {}, ''), ...titles));
    this.idle.append(element('h2', {}, trace.wholeCpus ? 'AboveIdle' : 'Use of the CPUs'), element('table', { class: 'idle' }, head, body));
    const more = all.length > shownCpus ? ` ${count(all.length - shownCpus)} more CPUs are in the timeline.` : '';
    this.idle.append(element('p', { class: 'muted' }, `${aboveIdleSource(trace)}${more}`));
  }

  // Of the selected time and threads.
  private renderStacks(): void {
    this.stacks.replaceChildren();
    if (!this.state.trace.hasStacks) return;
    const programs = brokenStacks(this.state.trace, this.state.totals());
    this.stacks.append(element('h2', {}, 'Whose stacks are broken'));
    if (programs.length === 0) {
      this.stacks.append(element('p', {}, 'No stack of these ticks is broken or cut.'));
      return;
    }
    const cells = (tag: 'td' | 'th', texts: string[], module: string) =>
      element('tr', {}, ...texts.map((text, place) => element(tag, place === 4 ? {} : { class: 'number' }, element('bdi', {}, text))), element(tag, { class: 'module' }, module));
    const body = element('tbody');
    for (const { program, ticks, broken, cut, module } of programs.slice(0, shownPrograms))
      body.append(cells('td', [`${percent(ticks - broken - cut, ticks)} %`, count(broken), count(cut), count(ticks), program], shortModule(module)));
    this.stacks.append(element('table', { class: 'stacks' }, element('thead', {}, cells('th', ['Not broken or cut', 'Broken', 'Cut', 'Ticks', 'Program'], 'Most end in')), body));
    const rest = programs.slice(shownPrograms);
    if (rest.length)
      this.stacks.append(element('p', { class: 'muted' }, `${count(rest.reduce((sum, { broken, cut }) => sum + broken + cut, 0))} more are of ${count(rest.length)} other programs.`));
  }

  render(): void {
    const { trace } = this.state;
    const sums = this.state.totals();
    this.renderStacks();
    this.renderIdle();
    this.functions.replaceChildren(element('h2', {}, 'Hottest functions'));
    if (sums.total === 0) {
      this.functions.append(element('p', { class: 'empty' }, emptyText(this.state)));
      return;
    }
    const rows = makeRows(trace, sums, ['symbol'], this.state.codeSelection());
    sortRows(rows, 'ticks');
    const table = element('table');
    const body = element('tbody');
    let rest = sums.total;
    for (const row of rows.slice(0, shownFunctions)) {
      rest -= row.ticks;
      const name = element('td', {}, element('button', { type: 'button', class: 'name' }, row.name));
      name.firstChild!.addEventListener('click', () => this.state.set({ tab: 'flame', flame: 'ticks', sandwich: row.id }));
      body.append(
        element(
          'tr',
          {},
          element('td', { class: 'number' }, `${percent(row.ticks, sums.total)} %`),
          element('td', { class: 'number' }, count(row.ticks)),
          name,
          element('td', { class: 'module' }, shortModule(moduleText(trace, row.id))),
        ),
      );
    }
    if (rest > 0)
      body.append(
        element(
          'tr',
          { class: 'muted' },
          element('td', { class: 'number' }, `${percent(rest, sums.total)} %`),
          element('td', { class: 'number' }, count(rest)),
          element('td', { colspan: '2' }, `in ${count(rows.length - shownFunctions)} other functions`),
        ),
      );
    table.append(
      element(
        'thead',
        {},
        element(
          'tr',
          {},
          element('th', { class: 'number' }, 'Share'),
          element('th', { class: 'number' }, 'Ticks'),
          element('th', {}, 'Function'),
          element('th', { class: 'module' }, 'Module'),
        ),
      ),
      body,
    );
    this.functions.append(table);
    if (trace.tickNs !== 0)
      this.functions.append(
        element('p', { class: 'muted' }, `${count(sums.total)} ticks are ${duration(sums.total * trace.tickNs)} of processor time.`),
      );
  }
}

function shortModule(module: string): string {
  return module.startsWith('[') ? module : module.slice(module.lastIndexOf('/') + 1);
}

// Why there is nothing to show.
export function emptyText(state: State): string {
  if (state.trace.ticks === 0)
    return 'The trace has no ticks: what ran was not sampled, or took less time than ticks are apart.';
  return state.partOfTime
    ? `No tick of ${state.scopeText()} is in the selected time.`
    : `No tick fell on ${state.scopeText()}.`;
}
