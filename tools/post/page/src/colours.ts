// SPDX-License-Identifier: MIT
// The colours of what is drawn; those of text and controls are in style.css.
import { changeOf, type FlameNode } from './flame';
import { kernelKind, markerKind, type Trace } from './trace';

export interface Colours {
  text: string;
  muted: string;
  line: string;
  back: string;
  busy: string;
  runnable: string;
  blocked: string;
  unknown: string;
  chosen: string;
  mark: string;
  found: string;
  dark: boolean;
}

const light: Colours = {
  text: '#1d2329',
  muted: '#5b6570',
  line: '#dde2e7',
  back: '#ffffff',
  busy: '#2f6fae',
  runnable: '#d9902f',
  blocked: '#c9d0d7',
  unknown: '#eceff2',
  chosen: '#2f6fae',
  mark: '#8a3fb0',
  found: '#b8488f',
  dark: false,
};

const dark: Colours = {
  text: '#e4e8ec',
  muted: '#9aa5b0',
  line: '#323a43',
  back: '#171b20',
  busy: '#69a5dc',
  runnable: '#dba14f',
  blocked: '#444e59',
  unknown: '#262c33',
  chosen: '#69a5dc',
  mark: '#cf95ec',
  found: '#e08ac2',
  dark: true,
};

let printing = false;

// Paper is light.
export function setPrinting(on: boolean): void {
  printing = on;
}

export function isDark(): boolean {
  if (printing) return false;
  const chosen = document.documentElement.dataset['theme'];
  return chosen ? chosen === 'dark' : window.matchMedia('(prefers-color-scheme: dark)').matches;
}

export function colours(): Colours {
  return isDark() ? dark : light;
}

function hash(text: string): number {
  let value = 17;
  for (let i = 0; i < text.length; ++i) value = (value * 31 + text.charCodeAt(i)) >>> 0;
  return value;
}

// Functions of a module have similar colours, warm ones; those of the kernel are blue, missing ones grey.
export function frameColour(trace: Trace, frame: number, hues: Colours): string {
  const grey = hues.dark ? '#39424c' : '#dfe4e9';
  if (frame < 0 || (trace.kind[frame]! & markerKind) !== 0) return grey;
  const name = hash(trace.names[trace.symbol[frame]!]!);
  const kernel = (trace.kind[frame]! & kernelKind) !== 0;
  const hue = kernel ? 205 + (name % 20) : 10 + (hash(trace.names[trace.module[frame]!]!) % 38);
  const shade = (name >>> 8) % 7;
  return hues.dark ? `hsl(${hue} 38% ${29 + shade}%)` : `hsl(${hue} ${kernel ? 45 : 62}% ${77 + shade}%)`;
}

// A function with a larger share than in the other trace is red, with a smaller one blue, without a real change grey.
export function changeColour(node: FlameNode, root: FlameNode, hues: Colours): string {
  const { change, isNoise } = changeOf(node, root);
  if (isNoise || node.frame < 0) return hues.dark ? '#39424c' : '#e6eaee';
  const most = Math.max(node.ticks / root.ticks, node.base / root.base);
  const part = 0.3 + 0.7 * Math.min(1, Math.abs(change) / most); // of a function that is there in one trace only: 1
  const hue = change > 0 ? 12 : 212;
  return hues.dark ? `hsl(${hue} ${Math.round(60 * part)}% 36%)` : `hsl(${hue} ${Math.round(80 * part)}% ${Math.round(92 - 22 * part)}%)`;
}
