// SPDX-License-Identifier: MIT
// A flame graph on a canvas, and the view that shows one or two of them.
import { button, canvasFont, choice, element, fitText, prepareCanvas } from './dom';
import { changeColour, colours, frameColour } from './colours';
import { boxesOf, changeOf, foundTicks, guessMark, type Box, type FlameNode, type Group, type Width } from './flame';
import { percent } from './format';
import type { Flame, State } from './state';
import { emptyText } from './summary_view';
import { hasStates } from './states';
import { moduleText } from './trace';

const rowHeight = 20;

export class FlameGraph {
  readonly box = element('div', { class: 'flame' });
  readonly canvas = element('canvas', { tabindex: '0', role: 'img' });
  private root: FlameNode | null = null;
  private zoomed: FlameNode | null = null;
  private boxes: Box[] = [];
  private pointed: FlameNode | null = null;
  compared = false; // colours show what has changed
  width: Width = 'ticks';

  constructor(
    private readonly state: State,
    private readonly label: string,
    private readonly point: (node: FlameNode, root: FlameNode) => void,
    private readonly open: (node: FlameNode) => void,
  ) {
    this.box.append(this.canvas);
    this.canvas.addEventListener('mousemove', (event) => this.pointAt(event));
    this.canvas.addEventListener('click', (event) => {
      const node = this.nodeAt(event);
      if (node) this.zoom(node);
    });
    this.canvas.addEventListener('dblclick', (event) => {
      const node = this.nodeAt(event);
      if (node) this.open(node);
    });
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.box);
  }

  show(root: FlameNode): void {
    this.zoomed = this.root ? follow(this.zoomed ?? this.root, root) : root;
    this.root = root;
    this.pointed = this.zoomed;
    this.draw();
  }

  zoom(node: FlameNode | null): void {
    this.zoomed = node ?? this.root;
    this.setPointed(this.zoomed);
    this.draw();
  }

  get isZoomed(): boolean {
    return this.zoomed !== this.root;
  }

  draw(): void {
    const width = this.box.clientWidth;
    if (!this.zoomed || !this.root || width === 0) return;
    this.boxes = boxesOf(this.zoomed, 0.7 / width, this.width);
    const height = this.boxes.reduce((most, box) => Math.max(most, box.row + 1), 1) * rowHeight;
    const context = prepareCanvas(this.canvas, width, height);
    const hues = colours();
    const search = this.state.search.toLowerCase();
    context.textBaseline = 'middle';
    for (const { node, x, width: share, row } of this.boxes) {
      const left = x * width;
      const wide = Math.max(share * width - 1, 0.7);
      const fits = search !== '' && node.frame >= 0 && node.name.toLowerCase().includes(search);
      context.globalAlpha = node.depth < this.zoomed.depth || (search !== '' && !fits) ? 0.5 : 1;
      const colour = () => (this.compared ? changeColour(node, this.root!, hues) : frameColour(this.state.flameTrace(), node.frame, hues));
      context.fillStyle = fits ? hues.found : colour();
      context.fillRect(left, row * rowHeight, wide, rowHeight - 1);
      context.globalAlpha = 1;
      if (node === this.pointed) {
        context.strokeStyle = hues.text;
        context.lineWidth = 1.5;
        context.strokeRect(left + 0.75, row * rowHeight + 0.75, Math.max(wide - 1.5, 0.5), rowHeight - 2.5);
      }
      const text = fitText(context, node.name + guessMark(node), wide - 8);
      if (!text) continue;
      context.font = canvasFont;
      context.fillStyle = fits ? hues.back : hues.text;
      context.fillText(text, left + 4, row * rowHeight + rowHeight / 2);
    }
    const shown = this.boxes.length;
    this.canvas.setAttribute(
      'aria-label',
      `${this.label}: ${shown} boxes, ${this.state.flameText(this.zoomed.ticks)}. Arrow keys move, Enter zooms, Backspace goes back, S shows callers and callees.`,
    );
    this.canvas.dataset['boxes'] = String(shown);
  }

  // Share of what is shown that the search has found; '' without a search.
  foundText(): string {
    const search = this.state.search.toLowerCase();
    if (!this.zoomed || search === '') return '';
    const ticks = foundTicks(this.boxes, this.zoomed, (node) => node.frame >= 0 && node.name.toLowerCase().includes(search));
    return `“${this.state.search}”: ${this.state.flameText(ticks)}, ${percent(ticks, this.zoomed.ticks)} %`;
  }

  private nodeAt(event: MouseEvent): FlameNode | null {
    const x = event.offsetX / this.box.clientWidth;
    const row = Math.floor(event.offsetY / rowHeight);
    return this.boxes.find((box) => box.row === row && x >= box.x && x < box.x + box.width)?.node ?? null;
  }

  private pointAt(event: MouseEvent): void {
    const node = this.nodeAt(event);
    this.canvas.style.cursor = node ? 'pointer' : 'default';
    if (node && node !== this.pointed) this.setPointed(node);
  }

  private setPointed(node: FlameNode | null): void {
    this.pointed = node;
    if (node && this.root) this.point(node, this.root);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const at = this.pointed ?? this.zoomed;
    if (!at || event.ctrlKey || event.altKey || event.metaKey) return;
    const beside = (step: number) => {
      const list = at.up && at.depth > this.zoomed!.depth ? at.up.below() : [at];
      const shown = new Set(this.boxes.map(({ node }) => node));
      return list.filter((node) => shown.has(node)).at(Math.max(0, list.indexOf(at) + step)) ?? null;
    };
    const keys: Record<string, () => FlameNode | null> = {
      ArrowDown: () => this.boxes.find(({ node }) => node.up === at)?.node ?? null,
      ArrowUp: () => at.up,
      ArrowLeft: () => beside(-1),
      ArrowRight: () => beside(1),
    };
    const move = keys[event.key];
    if (move) {
      const node = move();
      if (node) this.setPointed(node);
    } else if (event.key === 'Enter') this.zoom(at);
    else if (event.key === 'Backspace') this.zoom(this.zoomed?.up ?? this.root);
    else if (event.key === 's') this.open(at);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// The node of another graph with the same functions above it, as far as there is one.
function follow(node: FlameNode, root: FlameNode): FlameNode {
  const way: FlameNode[] = [];
  for (let at: FlameNode | null = node; at?.up; at = at.up) way.unshift(at);
  let to = root;
  for (const step of way) {
    const next = to.below().find((part) => part.frame === step.frame && part.name === step.name);
    if (!next) break;
    to = next;
  }
  return to;
}

export class FlameView {
  readonly box = element('section', { class: 'flames', 'aria-label': 'Flame graph' });
  private readonly controls = element('div', { class: 'controls' });
  private readonly note = element('p', { class: 'empty' });
  private readonly detail = element('p', { class: 'detail', 'aria-live': 'polite' });
  private readonly found = element('span', { class: 'found', 'aria-live': 'polite' });
  private readonly title = element('h2');
  private readonly upperTitle = element('h3', {}, 'Calls');
  private readonly lowerTitle = element('h3', {}, 'Called from');
  private readonly upper: FlameGraph;
  private readonly lower: FlameGraph;
  private readonly reset: HTMLButtonElement;
  private readonly whole: HTMLButtonElement;
  private readonly shows;
  private readonly direction;
  private readonly grouping;
  private readonly comparison;
  private readonly key = element('p', { class: 'legend muted' });
  private inverse = false;
  private compared: 'no' | Width = 'no';
  private group: Group = 'none';
  private shownFrame = -1;
  private drawn: unknown = null;

  constructor(private readonly state: State) {
    const point = (node: FlameNode, root: FlameNode) => this.describe(node, root);
    const open = (node: FlameNode) => {
      if (node.frame >= 0) state.set({ sandwich: node.frame });
    };
    this.upper = new FlameGraph(state, 'Flame graph', point, open);
    this.lower = new FlameGraph(state, 'Flame graph of callers', point, open);
    const { waits, flow } = state.trace;
    this.shows = choice('Threads', [
      { value: 'ticks', text: 'running (ticks)' },
      ...(waits ? [{ value: 'blocked', text: 'blocked' }, { value: 'runnable', text: 'waiting for a CPU' }] : []),
      ...(hasStates(state.trace) ? [{ value: 'states', text: 'all of it, by state' }] : []),
      ...(flow ? [{ value: 'flow', text: 'instructions (call flow)' }] : []),
    ], (value) => state.set({ flame: value as Flame }));
    this.direction = choice('Stacks', [
      { value: 'callees', text: 'from the outermost caller' },
      { value: 'callers', text: 'from the hottest function (inverse)' },
    ], (value) => {
      this.inverse = value === 'callers';
      this.drawn = null;
      this.render();
    });
    this.grouping = choice('Divide by', [
      { value: 'none', text: 'nothing' },
      { value: 'process', text: 'process' },
      { value: 'thread', text: 'thread' },
    ], (value) => {
      this.group = value as Group;
      this.drawn = null;
      this.render();
    });
    const { base } = state.trace;
    if (base) this.compared = 'ticks';
    this.comparison = choice('Compare', [
      { value: 'ticks', text: 'widths of this trace' },
      { value: 'base', text: `widths of ${base?.trace ?? ''}` },
      { value: 'no', text: 'nothing' },
    ], (value) => {
      this.compared = value as 'no' | Width;
      this.drawn = null;
      this.render();
    });
    const entry = (kind: string, text: string) => element('span', {}, element('i', { class: kind, 'aria-hidden': 'true' }), text);
    this.key.append(entry('more', `a larger share than in ${base?.trace ?? ''}`), entry('less', 'a smaller one'), entry('same', 'no change beyond chance (three standard deviations)'));
    this.reset = button('Zoom out', {}, () => {
      this.upper.zoom(null);
      this.lower.zoom(null);
      this.update();
    });
    this.whole = button('Back to the whole graph', {}, () => state.set({ sandwich: -1 }));
    this.controls.append(this.shows.box, this.comparison.box, this.direction.box, this.grouping.box, this.whole, this.reset, this.found);
    this.box.append(this.title, this.controls, this.note, this.key, this.detail, this.upperTitle, this.upper.box, this.lowerTitle, this.lower.box);
  }

  render(): void {
    const { state } = this;
    const sums = state.flameTotals();
    const sandwich = state.sandwich >= 0;
    const key = sums;
    const empty = sums.total === 0;
    this.note.textContent = this.noteText(empty);
    this.note.hidden = this.note.textContent === '';
    this.title.hidden = !sandwich || empty;
    this.upperTitle.hidden = this.lowerTitle.hidden = this.lower.box.hidden = !sandwich || empty;
    this.upper.box.hidden = this.detail.hidden = empty;
    this.shows.box.hidden = this.shows.select.options.length < 2;
    this.shows.select.value = state.flame;
    this.controls.hidden = empty && this.shows.box.hidden;
    const compares = this.compares();
    this.comparison.box.hidden = sandwich || !state.trace.base || state.flame !== 'ticks';
    this.key.hidden = empty || !compares;
    this.direction.box.hidden = this.grouping.box.hidden = sandwich || compares;
    this.whole.hidden = !sandwich;
    if (!empty && (this.drawn !== key || this.shownFrame !== state.sandwich)) {
      this.drawn = key;
      this.shownFrame = state.sandwich;
      this.make(sandwich);
    } else {
      this.upper.draw();
      this.lower.draw();
    }
    this.update();
  }

  private noteText(empty: boolean): string {
    const { state } = this;
    if (state.flame === 'ticks') {
      if (empty) return emptyText(state);
      return state.trace.hasStacks ? '' : 'The trace has no call stacks, so callers are not known: record them with run.tprof -g.';
    }
    if (state.flame === 'flow')
      return state.partOfTime || state.threads() ? 'The call flow is that of the whole trace: a selected time, process or thread does not apply to it.' : '';
    const none = { states: 'is known to have been there', blocked: 'was blocked', runnable: 'waited for a CPU' };
    if (empty) return `In the selected time, no thread of ${state.scopeText()} ${none[state.flame]}.`;
    return state.flameTrace().hasStacks ? '' : 'The context switches have no call stacks, so it is not known where threads waited: record them with swtrace stacks both.';
  }

  private compares(): boolean {
    return this.compared !== 'no' && this.state.trace.base !== null && this.state.sandwich < 0 && this.state.flame === 'ticks';
  }

  private make(sandwich: boolean): void {
    const flames = this.state.flames();
    const compares = this.compares();
    this.upper.compared = compares;
    this.upper.width = compares && this.compared === 'base' ? 'base' : 'ticks';
    if (sandwich) {
      const { callers, callees } = flames.sandwich(this.state.sandwich);
      this.title.textContent = `${callees.name}: callers and callees`;
      this.upper.show(callees);
      this.lower.show(callers);
      this.describe(callees, callees);
      return;
    }
    const root = compares ? flames.compared(this.state.processNames()) : this.inverse ? flames.callers(this.group) : flames.callees(this.group);
    this.upper.show(root);
    this.describe(root, root);
  }

  private update(): void {
    this.found.textContent = this.upper.foundText();
    this.reset.hidden = !this.upper.isZoomed && !(this.state.sandwich >= 0 && this.lower.isZoomed);
  }

  private describe(node: FlameNode, root: FlameNode): void {
    const { trace } = this.state;
    const total = this.state.flameTotals().total;
    const parts = [`${this.state.flameText(node.ticks)}, ${percent(node.ticks, total)} %`];
    if (root.ticks !== total && node !== root) parts.push(`${percent(node.ticks, root.ticks)} % of ${root.name}`);
    if (node.own > 0) parts.push(`${percent(node.own, total)} % in itself`);
    if (this.compares()) {
      const { change, isNoise } = changeOf(node, root);
      const points = `${change < 0 ? '−' : '+'}${Math.abs(100 * change).toFixed(1)} points`;
      parts.push(`in ${trace.base!.trace} ${this.state.flameText(node.base)}, ${percent(node.base, root.base)} %`, isNoise ? `${points}, perhaps by chance` : points);
    }
    if (node.frame >= 0) parts.push(moduleText(this.state.flameTrace(), node.frame));
    if (node.guessed > 0) parts.push(`guessed${node.guessed < node.ticks ? ` for ${this.state.flameText(node.guessed)}` : ''}: behind code without unwind tables or a signal handler\u2019s own stack`);
    this.detail.replaceChildren(element('bdi', { class: 'name' }, node.name), ` — ${parts.join(' · ')}`);
    this.update();
  }
}
