// SPDX-License-Identifier: MIT
// Numbers as text.

const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

export function count(value: number): string {
  return whole.format(value);
}

const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 });

// A number of a table: most are whole.
export function amount(value: number): string {
  return Number.isNaN(value) ? '–' : tenths.format(value);
}

const thousandths = new Intl.NumberFormat('en-US', { minimumFractionDigits: 3, maximumFractionDigits: 3 });

// As in tprof.offcpu.
export function milliseconds(ns: number): string {
  return `${thousandths.format(ns / 1e6)} ms`;
}

// As on post's own page: only all is 100, only nothing is 0.
export function percent(part: number, all: number): string {
  const share = all === 0 ? 0 : (100 * part) / all;
  if (part !== 0 && share < 0.05) return '<0.1';
  if (part !== all && share >= 99.95) return '>99.9';
  return share.toFixed(1);
}

export function duration(ns: number): string {
  if (ns === 0) return '0 s';
  if (ns < 999.5) return `${ns.toFixed(0)} ns`;
  if (ns < 999_500) return `${(ns / 1e3).toPrecision(3)} µs`;
  if (ns < 999_500_000) return `${(ns / 1e6).toPrecision(3)} ms`;
  if (ns < 59.95e9) return `${(ns / 1e9).toPrecision(3)} s`;
  const seconds = Math.round(ns / 1e9);
  const two = (value: number) => String(value).padStart(2, '0');
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  return `${Math.floor(seconds / 3600)} h ${two(Math.floor((seconds % 3600) / 60))} min`;
}

// A time of day of the trace: seconds with the digits that the distance of two marks needs.
export function seconds(ns: number, step: number): string {
  const digits = Math.max(0, Math.min(9, -Math.floor(Math.log10(step / 1e9) + 1e-9)));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

// The distance of marks on an axis: 1, 2 or 5 times a power of ten, at least `least`.
export function roundStep(least: number): number {
  const power = 10 ** Math.floor(Math.log10(least));
  for (const factor of [1, 2, 5]) if (factor * power >= least) return factor * power;
  return 10 * power;
}
