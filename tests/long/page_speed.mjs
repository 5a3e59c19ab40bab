// SPDX-License-Identifier: MIT
// What a large page costs Chromium: page_speed.mjs PAGE.html. Processor time of the page's thread, so that other programs do not count:
// until the page can be used, and of its script for a step of each kind.
import assert from 'node:assert/strict';
import { Browser } from '../support/browser.mjs';

const [file] = process.argv.slice(2);
const startLimit = 2000; // milliseconds
const stepLimit = 10;

const browser = await Browser.start({ width: 1600, height: 1000 });
try {
  await browser.send('Performance.enable', { timeDomain: 'threadTicks' });
  const spent = async (name) => {
    const { metrics } = await browser.send('Performance.getMetrics');
    return 1000 * metrics.find((metric) => metric.name === name).value;
  };
  const frame = () => browser.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))');
  const before = await spent('TaskDuration');
  const began = Date.now();
  await browser.open(file);
  const start = (await spent('TaskDuration')) - before;
  console.log(`${Math.round(start)} ms of processor time until the page can be used, ${Date.now() - began} ms by the clock`);

  // Of each kind of step the mean, without what measuring itself costs.
  const steps = 20;
  const costs = {};
  const measure = async (name, step) => {
    const first = await spent('ScriptDuration');
    for (let i = 0; i < steps; ++i) {
      await step(i);
      await frame();
    }
    costs[name] = ((await spent('ScriptDuration')) - first) / steps;
    console.log(`${costs[name].toFixed(1)} ms of script to ${name}`);
  };
  const lanes = await browser.box('.timeline canvas');
  const move = (x, y) => browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x, y, button: 'none' });
  await measure('point at the timeline', (i) => move(lanes.x + 300 + 20 * i, lanes.y + 60));
  await measure('scroll the timeline', (i) => browser.evaluate(`document.querySelector('.lanes').scrollTop = ${20 * i}`));
  for (const [key, tab] of [['1', 'summary'], ['2', 'functions'], ['3', 'flame graph']]) {
    await browser.press(key);
    await frame();
    await browser.mouse('mousePressed', lanes.x + 400, lanes.y + 60);
    await measure(`drag a selection beside the ${tab}`, (i) => browser.mouse('mouseMoved', lanes.x + 420 + 30 * i, lanes.y + 60));
    await browser.mouse('mouseReleased', lanes.x + 420 + 30 * steps, lanes.y + 60);
  }
  const flame = await browser.box('.flame canvas');
  await measure('point at the flame graph', (i) => move(flame.x + 50 + 40 * i, flame.y + 50));
  await browser.press('2');
  await measure('scroll the functions', (i) => browser.evaluate(`document.querySelector('.tree .scroller').scrollTop = ${300 * i}`));
  assert.ok(start < startLimit, `${start} ms`);
  for (const [name, cost] of Object.entries(costs)) assert.ok(cost < stepLimit, `${name}: ${cost} ms`);
} finally {
  await browser.end();
}
