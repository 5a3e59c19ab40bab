// SPDX-License-Identifier: MIT
// The page: its head, controls and views.
import { button, choice, element } from './dom';
import { isDark, setPrinting } from './colours';
import { FlameView } from './flame_view';
import { count } from './format';
import { State, type Tab } from './state';
import { SummaryView } from './summary_view';
import { TablesView } from './tables_view';
import { TimelineView } from './timeline_view';
import { subjectThreads } from './totals';
import { processText, type Table, type Trace } from './trace';
import { TreeView } from './tree_view';

interface TabText {
  tab: Tab;
  text: string;
}
const usualTabs: readonly TabText[] = [
  { tab: 'summary', text: 'Summary' },
  { tab: 'tree', text: 'Functions' },
  { tab: 'flame', text: 'Flame graph' },
];

const helpKeys: readonly [string, string][] = [
  ['1 2 3 4 5', 'summary, functions, flame graph, and the tabs that follow them'],
  ['/', 'search'],
  ['Esc', 'undo: the search, the function, the selected time, the selected process'],
  ['↑ ↓ ← →', 'move; open and close rows'],
  ['Enter', 'zoom into a box; callers and callees of a function; show only a process or thread'],
  ['Backspace', 'zoom out by one box'],
  ['Shift ← →', 'in the timeline: select a time; Enter zooms in, Backspace out'],
  ['s', 'callers and callees of the box'],
  ['d', 'dark or light'],
  ['?', 'this list'],
];

// While a selection changes, views that take longer than a part of a frame follow when the pointer rests.
const quickViews = 8; // milliseconds
const restsAfter = 150;

export class App {
  private readonly state: State;
  private readonly summary: SummaryView;
  private readonly tree: TreeView;
  private readonly flame: FlameView;
  private readonly more: [Tab, TablesView][] = []; // tables: the call flow, those of other programs
  private readonly tabs: readonly TabText[];
  private readonly timeline: TimelineView;
  private readonly search = element('input', { type: 'search', placeholder: 'Search names', 'aria-label': 'Search names' });
  private readonly help = element('dialog', { 'aria-label': 'Keys' });
  private readonly tabButtons = new Map<Tab, HTMLButtonElement>();
  private readonly scope;
  private readonly chosen = element('span', { class: 'muted', 'aria-live': 'polite' });
  private viewsTook = 0; // milliseconds
  private rest = 0; // a timer

  constructor(
    private readonly root: HTMLElement,
    private readonly trace: Trace,
  ) {
    this.state = new State(trace);
    this.summary = new SummaryView(this.state);
    this.tree = new TreeView(this.state);
    this.flame = new FlameView(this.state);
    const tabs = [...usualTabs];
    const add = (tab: Tab, text: string, tables: readonly Table[]) => {
      if (tables.length === 0) return;
      tabs.push({ tab, text });
      this.more.push([tab, new TablesView(this.state, tables, text)]);
    };
    add('flow', 'Call flow', trace.flow ? [trace.flow] : []);
    add('tables', 'Tables', trace.tables);
    this.tabs = tabs;
    if (trace.ticks === 0 && !trace.waits && trace.flow) this.state.tab = 'flow';
    this.timeline = new TimelineView(this.state);
    this.scope = choice('Show', this.scopes(), (value) => this.state.set({ scope: value }));
    this.build();
    this.state.onChange(() => this.render());
    const wanted = this.tabs.find(({ tab }) => tab === window.location.hash.slice(1));
    if (wanted) this.state.tab = wanted.tab;
    this.listen();
    this.render();
  }

  private scopes(): { value: string; text: string }[] {
    const { trace } = this;
    const list = [{ value: 'all', text: 'all processes' }];
    if (subjectThreads(trace)) list.unshift({ value: 'subject', text: `${trace.subject} and descendants` });
    const ticks = new Map<number, number>();
    const { rows, amount } = trace.pathTicks;
    for (let path = 0; path < trace.thread.length; ++path) {
      const process = trace.threadProcess[trace.thread[path]!]!;
      let sum = ticks.get(process) ?? 0;
      for (let i = rows[path]!; i < rows[path + 1]!; ++i) sum += amount[i]!;
      ticks.set(process, sum);
    }
    // Processes that only waited are last.
    for (const thread of trace.waits?.thread ?? []) {
      const process = trace.threadProcess[thread]!;
      if (!ticks.has(process)) ticks.set(process, 0);
    }
    const hottest = [...ticks].sort((a, b) => b[1] - a[1]).slice(0, 200);
    for (const [process] of hottest) list.push({ value: `process ${process}`, text: processText(trace, process) });
    return list;
  }

  private build(): void {
    const { trace } = this;
    const title = trace.subject || (trace.wholeCpus ? 'The whole system' : 'The recorded processes');
    document.title = `${title} – pitrace`;
    const unit = trace.event === '' ? '' : ` of ${trace.event}`;
    const lost = element('p', { class: trace.complete ? 'complete' : 'lost', role: 'status' }, trace.lost);
    if (trace.notSeen.length) lost.append(` Not seen: ${trace.notSeen.join(', ')}.`);
    const head = element(
      'header',
      {},
      element('h1', {}, element('bdi', {}, title)),
      element('p', { class: 'muted' }, `${count(trace.ticks)} ticks${unit} · ${trace.facts.filter(({ lead }) => /^(Host|Processors|Trace time)$/.test(lead)).map(({ lead, text }) => (lead === 'Processors' ? `${text} processor${text === '1' ? '' : 's'}` : text)).join(' · ')}`),
      element('span', { class: 'buttons' }, button('Dark or light', { class: 'quiet' }, () => this.changeTheme()), button('Keys', { class: 'quiet' }, () => this.help.showModal())),
      lost,
    );
    const list = element('nav', { role: 'tablist', 'aria-label': 'Views' });
    for (const { tab, text } of this.tabs) {
      const made = button(text, { role: 'tab', id: `tab-${tab}`, 'aria-controls': `view-${tab}` }, () => this.state.set({ tab }));
      this.tabButtons.set(tab, made);
      list.append(made);
    }
    const controls = element('div', { class: 'choices' }, this.scope.box, this.search, this.chosen);
    for (const [tab, box] of this.views()) {
      box.id = `view-${tab}`;
      box.setAttribute('role', 'tabpanel');
    }
    const keys = element('dl');
    for (const [key, text] of helpKeys) keys.append(element('dt', {}, key), element('dd', {}, text));
    this.help.append(element('h2', {}, 'Keys'), keys, button('Close', {}, () => this.help.close()));
    this.root.replaceChildren(head, element('main', {}, this.timeline.box, element('div', { class: 'bar-of-tabs' }, list, controls), ...this.views().map(([, box]) => box)), this.help);
  }

  private views(): [Tab, HTMLElement][] {
    return [
      ['summary', this.summary.box],
      ['tree', this.tree.box],
      ['flame', this.flame.box],
      ...this.more.map(([tab, { box }]): [Tab, HTMLElement] => [tab, box]),
    ];
  }

  private render(): void {
    const { state } = this;
    for (const [tab, box] of this.views()) box.classList.toggle('away', tab !== state.tab);
    for (const [tab, made] of this.tabButtons) {
      made.setAttribute('aria-selected', String(tab === state.tab));
      made.tabIndex = tab === state.tab ? 0 : -1;
    }
    if (![...this.scope.select.options].some(({ value }) => value === state.scope))
      this.scope.select.append(element('option', { value: state.scope }, state.scopeText()));
    this.scope.select.value = state.scope;
    if (this.search.value !== state.search) this.search.value = state.search;
    this.timeline.render();
    window.clearTimeout(this.rest);
    if (state.selecting && this.viewsTook > quickViews) this.rest = window.setTimeout(() => this.renderViews(), restsAfter);
    else this.renderViews();
  }

  private renderViews(): void {
    const { state } = this;
    const began = performance.now();
    this.chosen.textContent = `${count(state.totals().total)} of ${count(this.trace.ticks)} ticks`;
    if (state.tab === 'summary') this.summary.render();
    if (state.tab === 'tree') this.tree.render();
    if (state.tab === 'flame') this.flame.render();
    for (const [tab, view] of this.more) if (tab === state.tab) view.render();
    this.viewsTook = performance.now() - began;
  }

  private changeTheme(): void {
    document.documentElement.dataset['theme'] = isDark() ? 'light' : 'dark';
    this.render();
  }

  private listen(): void {
    this.search.addEventListener('input', () => this.state.set({ search: this.search.value }));
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.render());
    window.addEventListener('beforeprint', () => this.beforePrint());
    window.addEventListener('afterprint', () => {
      setPrinting(false);
      this.render();
    });
    document.addEventListener('keydown', (event) => this.key(event));
    this.root.querySelector('[role=tablist]')!.addEventListener('keydown', (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[(event as KeyboardEvent).key];
      if (!step) return;
      event.preventDefault();
      const { tabs } = this;
      const place = tabs.findIndex(({ tab }) => tab === this.state.tab);
      this.state.set({ tab: tabs[(place + step + tabs.length) % tabs.length]!.tab });
      this.tabButtons.get(this.state.tab)!.focus();
    });
  }

  // All views are printed; those that are away have no size, and draw nothing.
  private beforePrint(): void {
    setPrinting(true);
    for (const [, box] of this.views()) box.classList.remove('away');
    this.summary.render();
    this.tree.render();
    this.tree.drawAll();
    for (const [, view] of this.more) view.render();
    this.flame.render();
    this.timeline.render();
  }

  private undo(): void {
    const { state } = this;
    if (state.search !== '') state.set({ search: '' });
    else if (state.sandwich >= 0) state.set({ sandwich: -1 });
    else if (state.partOfTime) state.set({ from: 0, to: this.trace.bins });
    else state.set({ scope: subjectThreads(this.trace) ? 'subject' : 'all' });
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey || this.help.open) return;
    const typing = (event.target as Element).matches('input[type=search], select');
    if (event.key === 'Escape') {
      this.undo();
      return;
    }
    if (typing) return;
    const keys: Record<string, () => void> = {
      '/': () => this.search.focus(),
      '?': () => this.help.showModal(),
      d: () => this.changeTheme(),
    };
    this.tabs.forEach(({ tab }, place) => (keys[String(place + 1)] = () => this.state.set({ tab })));
    const call = keys[event.key];
    if (!call) return;
    event.preventDefault();
    call();
  }
}
