// SPDX-License-Identifier: MIT
// The timeline: what CPUs and threads did when. A stretch of time that is selected here is what the other views
// are about.
import { aboveIdle, meanShare } from './above_idle';
import { button, canvasFont, element, fitText, prepareCanvas } from './dom';
import { colours, type Colours } from './colours';
import { count, duration, percent, roundStep, seconds } from './format';
import { HookMarks } from './hooks';
import { cpuLanes, mean, orderLanes, threadLanes, type Lane } from './lanes';
import type { State } from './state';
import { WaitTexts } from './waits';

const laneHeight = 18;
const axisHeight = 22;
const markHeight = 8;
const mostThreads = 500;
const mostCpus = 4; // in the text on all of them
const shownLanes = 13; // without scrolling; on a narrow screen fewer
const shownLanesNarrow = 7;

export class TimelineView {
  readonly box = element('section', { class: 'timeline', 'aria-label': 'Timeline' });
  private readonly scroller = element('div', { class: 'lanes' });
  private readonly space = element('div');
  private readonly canvas = element('canvas', { tabindex: '0', role: 'img' });
  private readonly selected = element('span', { class: 'range', 'aria-live': 'polite' });
  private readonly detail = element('p', { class: 'muted under' });
  private readonly legend = element('p', { class: 'legend muted' });
  private readonly zoomIn = button('Zoom in', {}, () => this.zoomToSelection());
  private readonly zoomOut = button('Whole trace', {}, () => this.look(0, this.state.trace.bins));
  private readonly clear = button('All times', {}, () => this.select(0, this.state.trace.bins));
  private readonly cpus: Lane[];
  private readonly waits: WaitTexts;
  private readonly marks: HookMarks;
  private lanes: Lane[] = [];
  private madeFor = '\0'; // the scope of the lanes
  private viewFrom = 0; // bins
  private viewTo: number;
  private cursor = 0; // bin, of the keyboard
  private anchor = 0;
  private dragFrom = -1;
  private shownThreads = '';

  constructor(private readonly state: State) {
    const { trace } = state;
    this.viewTo = trace.bins;
    this.cpus = cpuLanes(trace);
    this.waits = new WaitTexts(trace);
    this.marks = new HookMarks(trace);
    const head = element('div', { class: 'controls' }, element('h2', {}, 'Timeline'), this.selected, this.zoomIn, this.zoomOut, this.clear);
    this.scroller.append(this.canvas, this.space);
    this.box.append(head, this.scroller, this.detail, this.legend);
    this.makeLegend();
    this.scroller.addEventListener('scroll', () => this.draw());
    this.canvas.addEventListener('pointerdown', (event) => this.press(event));
    this.canvas.addEventListener('pointermove', (event) => this.move(event));
    this.canvas.addEventListener('pointerup', (event) => this.release(event));
    this.canvas.addEventListener('pointercancel', () => this.endDrag());
    this.canvas.addEventListener('keydown', (event) => this.key(event));
    new ResizeObserver(() => this.draw()).observe(this.scroller);
    this.box.hidden = trace.bins === 0;
  }

  private makeLegend(): void {
    const entry = (kind: string, text: string) => element('span', {}, element('i', { class: kind, 'aria-hidden': 'true' }), text);
    if (this.state.trace.schedule)
      this.legend.append(entry('busy', 'running'), entry('runnable', 'waiting for a CPU'), entry('blocked', 'blocked'), entry('unknown', 'not known'));
    else
      this.legend.append(entry('busy', 'ticks'), ' The trace has no context switches (swtrace enable dispatch), so waiting is not shown.');
    if (this.state.trace.hooks?.cpu.length) this.legend.append(entry('mark', 'user hooks'), this.marks.lack());
  }

  render(): void {
    const { state } = this;
    if (state.trace.bins === 0) return;
    if (this.madeFor !== state.scope) {
      this.madeFor = state.scope;
      const { lanes, all } = threadLanes(state.trace, state.threads(), mostThreads);
      this.lanes = orderLanes(this.cpus, lanes, state.trace.wholeCpus);
      this.shownThreads = all > lanes.length ? `The ${count(lanes.length)} busiest of ${count(all)} threads are shown.` : '';
    }
    this.selected.textContent = this.rangeText();
    this.zoomIn.hidden = !state.partOfTime || (this.viewFrom === state.from && this.viewTo === state.to);
    this.zoomOut.hidden = this.viewTo - this.viewFrom === state.trace.bins;
    this.clear.hidden = !state.partOfTime;
    if (this.detail.textContent === '') this.detail.textContent = this.shownThreads;
    this.draw();
  }

  // Nanoseconds from the beginning of the trace.
  private time(bin: number): number {
    return this.state.trace.firstBinNs + bin * this.state.trace.binNs;
  }

  private rangeText(): string {
    const { from, to, trace } = this.state;
    const step = trace.binNs;
    if (!this.state.partOfTime) return `All of it, ${duration(trace.bins * trace.binNs)}. Drag to select a time.`;
    return `${seconds(this.time(from), step)} to ${seconds(this.time(to), step)}, ${duration((to - from) * trace.binNs)}`;
  }

  private labelWidth(): number {
    return Math.min(190, Math.round(this.scroller.clientWidth * 0.28));
  }

  private binAt(x: number): number {
    const left = this.labelWidth();
    const share = (x - left) / Math.max(1, this.scroller.clientWidth - left);
    return this.viewFrom + Math.max(0, Math.min(1, share)) * (this.viewTo - this.viewFrom);
  }

  private xAt(bin: number): number {
    const left = this.labelWidth();
    return left + ((bin - this.viewFrom) / (this.viewTo - this.viewFrom)) * (this.scroller.clientWidth - left);
  }

  draw(): void {
    if (this.scroller.clientWidth === 0 || this.state.trace.bins === 0) return;
    const visible = Math.min(this.lanes.length, window.innerWidth > 700 ? shownLanes : shownLanesNarrow);
    this.space.style.height = `${(this.lanes.length - visible) * laneHeight}px`;
    const width = this.scroller.clientWidth; // changes with the scroll bar
    const height = axisHeight + visible * laneHeight;
    const context = prepareCanvas(this.canvas, width, height);
    const hues = colours();
    this.drawAxis(context, hues, width, height);
    const first = this.scroller.scrollTop / laneHeight;
    context.save();
    context.beginPath();
    context.rect(0, axisHeight, width, height - axisHeight);
    context.clip();
    for (let place = Math.floor(first); place < Math.min(this.lanes.length, Math.ceil(first + visible)); ++place)
      this.drawLane(context, hues, this.lanes[place]!, axisHeight + (place - first) * laneHeight, width);
    context.restore();
    this.drawSelection(context, hues, width, height);
    this.canvas.setAttribute('aria-label', `Timeline of ${this.lanes.length} CPUs and threads. ${this.rangeText()} Arrow keys move, with Shift they select, Enter zooms, Backspace shows all.`);
  }

  private drawAxis(context: CanvasRenderingContext2D, hues: Colours, width: number, height: number): void {
    const left = this.labelWidth();
    const ns = (this.viewTo - this.viewFrom) * this.state.trace.binNs;
    const step = roundStep((ns / Math.max(1, width - left)) * 110);
    context.font = canvasFont;
    context.textBaseline = 'middle';
    for (let mark = Math.ceil(this.time(this.viewFrom) / step) * step; mark <= this.time(this.viewTo); mark += step) {
      const x = Math.round(this.xAt((mark - this.state.trace.firstBinNs) / this.state.trace.binNs)) + 0.5;
      context.fillStyle = hues.line;
      context.fillRect(x, 0, 1, height);
      context.fillStyle = hues.muted;
      if (x + 60 < width) context.fillText(seconds(mark, step), x + 4, axisHeight / 2);
    }
  }

  private drawLane(context: CanvasRenderingContext2D, hues: Colours, lane: Lane, top: number, width: number): void {
    const left = this.labelWidth();
    context.font = canvasFont;
    context.textBaseline = 'middle';
    context.fillStyle = lane.thread < 0 ? hues.muted : hues.text;
    context.fillText(fitText(context, lane.name, left - 12), 8, top + laneHeight / 2);
    const full = laneHeight - 3;
    const bins = (this.viewTo - this.viewFrom) / (width - left); // of a pixel
    // Neighbouring pixels that look the same are drawn at once.
    let began = 0;
    let last = '';
    const flush = (end: number) => {
      if (last === '' || end === began) return;
      const [running, runnable, unknown, known] = last.split(' ').map(Number) as [number, number, number, number];
      const part = (height: number, colour: string, above: number) => {
        if (height === 0) return;
        context.fillStyle = colour;
        context.fillRect(left + began, top + 1 + full - above - height, end - began, height);
      };
      if (known) part(2, hues.blocked, 0);
      if (unknown) part(full, hues.unknown, 0);
      part(running, hues.busy, 0);
      part(runnable, hues.runnable, running);
    };
    for (let x = 0; x < width - left; ++x) {
      const from = this.viewFrom + x * bins;
      const level = (values: Float32Array | null) => {
        const share = mean(values, from, from + bins);
        return share === 0 ? 0 : Math.max(1, Math.round(share * full));
      };
      const running = level(lane.running);
      const now = `${running} ${Math.min(full - running, level(lane.runnable))} ${level(lane.unknown) > full / 2 ? 1 : 0} ${level(lane.known) > 0 ? 1 : 0}`;
      if (now === last) continue;
      flush(x);
      began = x;
      last = now;
    }
    flush(width - left);
    this.drawMarks(context, hues, lane, top, width);
  }

  // User hooks, at most one mark for a pixel.
  private drawMarks(context: CanvasRenderingContext2D, hues: Colours, lane: Lane, top: number, width: number): void {
    context.fillStyle = hues.mark;
    let last = -1;
    for (const bin of this.marks.bins(lane.cpu, lane.thread)) {
      const x = Math.round(this.xAt(bin + 0.5));
      if (x === last || x < this.labelWidth() || x >= width) continue;
      last = x;
      context.fillRect(x - 1, top + 1, 2, markHeight);
    }
  }

  private drawSelection(context: CanvasRenderingContext2D, hues: Colours, width: number, height: number): void {
    const left = this.labelWidth();
    const clamp = (x: number) => Math.max(left, Math.min(width, x));
    if (this.state.partOfTime) {
      const from = clamp(this.xAt(this.state.from));
      const to = clamp(this.xAt(this.state.to));
      context.fillStyle = hues.back;
      context.globalAlpha = 0.6;
      context.fillRect(left, axisHeight, from - left, height - axisHeight);
      context.fillRect(to, axisHeight, width - to, height - axisHeight);
      context.globalAlpha = 1;
      context.fillStyle = hues.chosen;
      context.fillRect(from, 0, 1.5, height);
      context.fillRect(to - 1.5, 0, 1.5, height);
    }
    if (document.activeElement === this.canvas) {
      context.fillStyle = hues.text;
      context.fillRect(clamp(this.xAt(this.cursor)), 0, 1, height);
    }
  }

  // ---- selecting ---------------------------------------------------------------------------------

  private select(from: number, to: number): void {
    const { bins } = this.state.trace;
    const first = Math.max(0, Math.min(bins - 1, Math.floor(Math.min(from, to))));
    const end = Math.max(first + 1, Math.min(bins, Math.ceil(Math.max(from, to))));
    this.state.set({ from: first, to: end });
  }

  private look(from: number, to: number): void {
    this.viewFrom = from;
    this.viewTo = to;
    this.render();
  }

  private zoomToSelection(): void {
    if (this.state.partOfTime) this.look(this.state.from, this.state.to);
  }

  private press(event: PointerEvent): void {
    if (event.button !== 0) return;
    if (event.offsetX < this.labelWidth()) {
      const lane = this.laneAt(event.offsetY);
      if (lane && lane.thread >= 0) this.state.set({ scope: `thread ${lane.thread}` });
      return;
    }
    this.dragFrom = event.offsetX;
    this.canvas.setPointerCapture(event.pointerId);
  }

  private move(event: PointerEvent): void {
    if (this.dragFrom >= 0 && Math.abs(event.offsetX - this.dragFrom) > 3) {
      this.state.selecting = true;
      this.select(this.binAt(this.dragFrom), this.binAt(event.offsetX));
    }
    this.describe(event.offsetX, event.offsetY);
  }

  // A click without a drag ends the selection.
  private release(event: PointerEvent): void {
    if (this.dragFrom >= 0 && Math.abs(event.offsetX - this.dragFrom) <= 3) this.select(0, this.state.trace.bins);
    this.endDrag();
  }

  private endDrag(): void {
    this.dragFrom = -1;
    if (!this.state.selecting) return;
    this.state.selecting = false;
    this.state.set({});
  }

  private laneAt(y: number): Lane | null {
    return y < axisHeight ? null : (this.lanes[Math.floor((y - axisHeight + this.scroller.scrollTop) / laneHeight)] ?? null);
  }

  private describe(x: number, y: number): void {
    const lane = this.laneAt(y);
    if (!lane || x < this.labelWidth()) {
      this.detail.textContent = lane ? lane.name : this.shownThreads;
      return;
    }
    const { trace } = this.state;
    const bin = Math.min(trace.bins - 1, Math.floor(this.binAt(x)));
    const parts = lane.thread < 0 && lane.cpu < 0 ? this.busyTexts(bin) : [`${percent(lane.running[bin]!, 1)} % running`];
    if (lane.runnable) parts.push(`${percent(lane.runnable[bin]!, 1)} % waiting for a CPU`);
    parts.push(`${count(lane.ticks[bin]!)} ticks`);
    const waits = lane.thread < 0 ? '' : this.waits.waits(lane.thread, bin);
    const wakes = waits === '' ? '' : this.waits.wakes(lane.thread, bin);
    // Marks are wider than a bin.
    const hooks = this.marks.texts(lane.cpu, lane.thread, Math.floor(this.binAt(x - 2)), Math.ceil(this.binAt(x + 2)));
    const texts = [parts.join(', '), waits, wakes, hooks].filter((text) => text !== '');
    this.detail.textContent = `${lane.name} at ${seconds(this.time(bin), trace.binNs)}, in ${duration(trace.binNs)}: ${texts.join(' · ')}`;
  }

  // Of the mean of all CPUs: the busiest of them.
  private busyTexts(bin: number): string[] {
    const all = aboveIdle(this.state.trace, this.cpus, bin, bin + 1);
    const busiest = [...all].sort((a, b) => b.share - a.share || a.cpu - b.cpu).slice(0, mostCpus);
    const parts = busiest.map(({ cpu, share }) => `CPU ${cpu} ${percent(share, 1)} %`);
    if (all.length > mostCpus) parts.push(`${all.length - mostCpus} others less`);
    return [`${percent(meanShare(all), 1)} % ${this.state.trace.wholeCpus ? 'above idle' : 'used'}`, ...parts];
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const { bins } = this.state.trace;
    const step = Math.max(1, Math.round((this.viewTo - this.viewFrom) / 100));
    const to: Record<string, number> = { ArrowLeft: this.cursor - step, ArrowRight: this.cursor + step, Home: 0, End: bins };
    const place = to[event.key];
    if (place !== undefined) {
      if (!event.shiftKey) this.anchor = Math.max(0, Math.min(bins, place));
      this.cursor = Math.max(0, Math.min(bins, place));
      if (event.shiftKey && this.cursor !== this.anchor) this.select(this.anchor, this.cursor);
      else this.draw();
    } else if (event.key === 'Enter') this.zoomToSelection();
    else if (event.key === 'Backspace') this.look(0, bins);
    else if (event.key === 'ArrowDown') this.scroller.scrollTop += laneHeight;
    else if (event.key === 'ArrowUp') this.scroller.scrollTop -= laneHeight;
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}
