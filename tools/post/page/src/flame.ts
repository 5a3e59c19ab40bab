// SPDX-License-Identifier: MIT
// The nodes of flame graphs: call paths that are joined where they have the same functions.
import { processText, symbolText, threadText, type Trace } from './trace';
import type { Totals } from './totals';

export type Group = 'none' | 'process' | 'thread';

// A function on paths that are equal up to it, from the outside (callees) or from the inside (callers).
export interface FlameNode {
  name: string;
  frame: number; // -1: all, a process or a thread
  ticks: number;
  own: number; // of a node of callees: on the function itself
  base: number; // ticks in the trace with which this one is compared
  guessed: number; // of the ticks, those for which it is a guess that this function called
  up: FlameNode | null;
  depth: number;
  below(): FlameNode[]; // by ticks, then name
}

class Base implements FlameNode {
  private made: FlameNode[] | null = null;
  constructor(
    readonly name: string,
    readonly frame: number,
    readonly ticks: number,
    readonly own: number,
    readonly up: FlameNode | null,
    private readonly make: (node: FlameNode) => FlameNode[],
    readonly guessed = 0,
    readonly base = 0,
  ) {}
  get depth(): number {
    return this.up ? this.up.depth + 1 : 0;
  }
  below(): FlameNode[] {
    this.made ??= this.make(this).sort((a, b) => b.ticks - a.ticks || b.base - a.base || (a.name < b.name ? -1 : 1));
    return this.made;
  }
}

function grouped<T>(items: Iterable<T>, keyOf: (item: T) => number): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group) group.push(item);
    else groups.set(key, [item]);
  }
  return groups;
}

function listBelow(of: { firstBelow: Int32Array; nextBelow: Int32Array }, path: number): number[] {
  const paths: number[] = [];
  for (let below = of.firstBelow[path]!; below >= 0; below = of.nextBelow[below]!) paths.push(below);
  return paths;
}

export class FlameMaker {
  constructor(
    private readonly trace: Trace,
    private readonly totals: Totals,
  ) {}

  // All paths from the outside in; with groups, processes or threads are below the root.
  callees(group: Group): FlameNode {
    const roots: number[] = [];
    for (let path = 0; path < this.trace.above.length; ++path)
      if (this.trace.above[path]! < 0 && this.totals.all[path]! > 0) roots.push(path);
    return new Base('all', -1, this.totals.total, 0, null, (root) => {
      if (group === 'none') return this.calleesOf(root, roots);
      const ownerOf = (path: number) => this.ownerOf(path, group);
      return [...grouped(roots, ownerOf)].map(
        ([owner, paths]) =>
          new Base(this.ownerText(owner, group), -1, this.sum(paths), 0, root, (node) => this.calleesOf(node, paths)),
      );
    });
  }

  // The same with the ticks of the other trace, those of processes with these names (null: all).
  compared(processes: ReadonlySet<number> | null): FlameNode {
    const base = this.trace.base!;
    const roots: number[] = [];
    for (let path = 0; path < this.trace.above.length; ++path)
      if (this.trace.above[path]! < 0 && this.totals.all[path]! > 0) roots.push(path);
    const others: number[] = [];
    let ticks = 0;
    for (let path = 0; path < base.above.length; ++path)
      if (base.above[path]! < 0 && (!processes || processes.has(base.process[path]!))) {
        others.push(path);
        ticks += base.all[path]!;
      }
    return new Base('all', -1, this.totals.total, 0, null, (root) => this.comparedOf(root, roots, others), 0, ticks);
  }

  private comparedOf(up: FlameNode, paths: number[], others: number[]): FlameNode[] {
    const base = this.trace.base!;
    const mine = grouped(paths, (path) => this.trace.frame[path]!);
    const old = grouped(others, (path) => base.frame[path]!);
    return [...new Set([...mine.keys(), ...old.keys()])].map((frame) => {
      const same = mine.get(frame) ?? [];
      const before = old.get(frame) ?? [];
      const own = same.reduce((sum, path) => sum + this.totals.own[path]!, 0);
      const ticks = before.reduce((sum, path) => sum + base.all[path]!, 0);
      const make = (node: FlameNode) =>
        this.comparedOf(node, same.flatMap((path) => this.pathsBelow(path)), before.flatMap((path) => listBelow(base, path)));
      return new Base(symbolText(this.trace, frame), frame, this.sum(same), own, up, make, this.guessed(same), ticks);
    });
  }

  // All paths from the inside out.
  callers(group: Group): FlameNode {
    const leaves: number[] = [];
    for (let path = 0; path < this.trace.above.length; ++path) if (this.totals.own[path]! > 0) leaves.push(path);
    const weight = this.totals.own;
    return new Base('all', -1, this.totals.total, 0, null, (root) => {
      const starts = (paths: number[]) => paths.map((path) => ({ path, ticks: weight[path]! }));
      if (group === 'none') return this.callersOf(root, starts(leaves));
      const ownerOf = (path: number) => this.ownerOf(path, group);
      return [...grouped(leaves, ownerOf)].map(([owner, paths]) => {
        const ticks = paths.reduce((sum, path) => sum + weight[path]!, 0);
        return new Base(this.ownerText(owner, group), -1, ticks, 0, root, (node) =>
          this.callersOf(node, starts(paths)),
        );
      });
    });
  }

  // What calls a function, and what it calls: the paths on which it is the outermost call of itself.
  sandwich(frame: number): { callers: FlameNode; callees: FlameNode } {
    const paths = this.outermost(frame);
    const ticks = this.sum(paths);
    const own = this.ownOf(frame);
    const name = symbolText(this.trace, frame);
    return {
      callees: new Base(name, frame, ticks, own, null, (node) => this.calleesOf(node, paths.flatMap((path) => this.pathsBelow(path))), this.guessed(paths)),
      callers: new Base(name, frame, ticks, own, null, (node) =>
        this.callersOf(
          node,
          paths
            .filter((path) => this.trace.above[path]! >= 0)
            .map((path) => ({ path: this.trace.above[path]!, ticks: this.totals.all[path]! })),
        ),
        this.guessed(paths),
      ),
    };
  }

  // Ticks on a function itself.
  private ownOf(frame: number): number {
    let ticks = 0;
    for (let path = 0; path < this.trace.frame.length; ++path)
      if (this.trace.frame[path] === frame) ticks += this.totals.own[path]!;
    return ticks;
  }

  private outermost(frame: number): number[] {
    const inside = new Uint8Array(this.trace.frame.length); // 1: it, or it is called by it
    const paths: number[] = [];
    for (let path = 0; path < inside.length; ++path) {
      const above = this.trace.above[path]!;
      if (above >= 0 && inside[above] === 1) {
        inside[path] = 1;
      } else if (this.trace.frame[path] === frame) {
        inside[path] = 1;
        if (this.totals.all[path]! > 0) paths.push(path);
      }
    }
    return paths;
  }

  private ownerOf(path: number, group: Group): number {
    const thread = this.trace.thread[path]!;
    return group === 'thread' ? thread : this.trace.threadProcess[thread]!;
  }

  private ownerText(owner: number, group: Group): string {
    return group === 'thread' ? threadText(this.trace, owner) : processText(this.trace, owner);
  }

  private sum(paths: number[]): number {
    return paths.reduce((sum, path) => sum + this.totals.all[path]!, 0);
  }

  private guessed(paths: number[]): number {
    return this.sum(paths.filter((path) => this.trace.guessed[path] === 1));
  }

  private pathsBelow(path: number): number[] {
    return listBelow(this.trace, path).filter((below) => this.totals.all[below]! > 0);
  }

  private calleesOf(up: FlameNode, paths: number[]): FlameNode[] {
    return [...grouped(paths, (path) => this.trace.frame[path]!)].map(([frame, same]) => {
      const own = same.reduce((sum, path) => sum + this.totals.own[path]!, 0);
      const make = (node: FlameNode) => this.calleesOf(node, same.flatMap((path) => this.pathsBelow(path)));
      return new Base(symbolText(this.trace, frame), frame, this.sum(same), own, up, make, this.guessed(same));
    });
  }

  private callersOf(up: FlameNode, paths: { path: number; ticks: number }[]): FlameNode[] {
    return [...grouped(paths, ({ path }) => this.trace.frame[path]!)].map(([frame, same]) => {
      const sum = (parts: typeof same) => parts.reduce((ticks, part) => ticks + part.ticks, 0);
      const make = (node: FlameNode) =>
        this.callersOf(
          node,
          same
            .filter(({ path }) => this.trace.above[path]! >= 0)
            .map((part) => ({ path: this.trace.above[part.path]!, ticks: part.ticks })),
        );
      const guessed = sum(same.filter(({ path }) => this.trace.guessed[path] === 1));
      return new Base(symbolText(this.trace, frame), frame, sum(same), 0, up, make, guessed);
    });
  }
}

// ---- where nodes are drawn -------------------------------------------------------------------------

export interface Box {
  node: FlameNode;
  x: number; // shares of the width
  width: number;
  row: number; // 0: the root's
}

// How much more of all ticks a node has than in the other trace: a difference of shares, and whether chance alone
// can cause it (three standard deviations).
export function changeOf(node: FlameNode, root: FlameNode): { change: number; isNoise: boolean } {
  if (root.ticks === 0 || root.base === 0) return { change: 0, isNoise: true };
  const change = node.ticks / root.ticks - node.base / root.base;
  const share = (node.ticks + node.base) / (root.ticks + root.base);
  const deviation = Math.sqrt(share * (1 - share) * (1 / root.ticks + 1 / root.base));
  return { change, isNoise: Math.abs(change) <= 3 * deviation };
}

export type Width = 'ticks' | 'base';

// The boxes of a node that fills the whole width, of what is below it, and of what is above it. Boxes narrower
// than `least` are left out. width: of which trace the boxes have the shares.
export function boxesOf(zoomed: FlameNode, least: number, width: Width = 'ticks'): Box[] {
  const boxes: Box[] = [];
  const above: FlameNode[] = [];
  for (let node = zoomed.up; node; node = node.up) above.unshift(node);
  above.forEach((node, row) => boxes.push({ node, x: 0, width: 1, row }));
  const add = (node: FlameNode, x: number, row: number) => {
    const share = zoomed[width] === 0 ? 0 : node[width] / zoomed[width];
    if (share < least) return;
    boxes.push({ node, x, width: share, row });
    let next = x;
    for (const part of node.below()) {
      add(part, next, row + 1);
      next += part[width] / zoomed[width];
    }
  };
  add(zoomed, 0, above.length);
  return boxes;
}

// Ticks of the outermost boxes whose functions have the text in their names.
export function foundTicks(boxes: readonly Box[], zoomed: FlameNode, fits: (node: FlameNode) => boolean): number {
  const counted = new Set<FlameNode>();
  let ticks = 0;
  for (const { node } of boxes) {
    if (node.depth < zoomed.depth) continue;
    if (node.up && counted.has(node.up)) counted.add(node);
    else if (fits(node)) {
      counted.add(node);
      ticks += node.ticks;
    }
  }
  return ticks;
}

// Behind the name of a function that is a guess, or for some of the ticks.
export function guessMark(node: FlameNode): string {
  if (node.guessed === 0) return '';
  return node.guessed === node.ticks ? ' [guessed]' : ' [guessed in part]';
}
