// SPDX-License-Identifier: MIT
// The call flow of an instruction trace in Chromium: page_flow.mjs PAGE.html TREE.json, whose tree arcf has made. A function has
// a name that looks like markup.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Browser } from '../support/browser.mjs';

const [file, tree] = process.argv.slice(2);
const [thread] = JSON.parse(readFileSync(tree, 'utf8')).threads;
const hostile = '</script><img src=x onerror=alert(1)>';
const commas = (number) => number.toLocaleString('en-US');
const all = thread.nodes.reduce((sum, { self }) => sum + self, 0);

const browser = await Browser.start({ width: 1280, height: 900 });
try {
  await browser.open(file);
  const text = (selector) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  const rows = () => browser.evaluate("[...document.querySelectorAll('.tables:not(.away) tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent.replace(/^[▾▸] /, '')))");

  // Without ticks the page begins with the call flow: its thread is open.
  assert.equal(await browser.evaluate("document.querySelector('[role=tab][aria-selected=true]').innerText"), 'Call flow');
  assert.match(await text('.tables:not(.away)'), /Instructions\s+[\d]+: user/);
  assert.deepEqual((await rows())[0], [thread.name, '0', '0', '100', commas(all)]);

  // All of it has the rows of arcf, in the order of their first calls, and sorted by instructions with calls.
  await browser.clickOn('.tables:not(.away) .controls button:nth-last-of-type(2)');
  const open = await rows();
  assert.equal(open.length, thread.nodes.length + 1);
  const text_of = ({ function: name, calls, self, cumulative, entered_before: before }) => [name + (before ? '  (entered before the trace)' : ''), commas(calls), commas(self), commas(cumulative)].join(' ');
  assert.deepEqual(open.slice(1).map(([name, calls, self, , sum]) => [name, calls, self, sum].join(' ')).sort(), thread.nodes.map(text_of).sort());
  await browser.clickOn('.tables:not(.away) thead th:last-child button');
  const sorted = await rows();
  const roots = thread.nodes.filter(({ parent }) => parent === undefined).sort((a, b) => b.cumulative - a.cumulative);
  assert.equal(sorted[1][4], commas(roots[0].cumulative));
  await browser.clickOn('.tables:not(.away) .controls button:nth-last-of-type(3)');
  assert.deepEqual(await rows(), open);
  assert.equal(await browser.evaluate("document.querySelector('.tables:not(.away) .controls [aria-pressed]').getAttribute('aria-pressed')"), 'true');

  // A hostile name is text, found by the search with what called it.
  await browser.press('/');
  await browser.type('onerror');
  await browser.until("document.querySelectorAll('.tables:not(.away) tbody tr').length < 200");
  assert.ok((await rows()).some(([name]) => name.startsWith(hostile)), String(await rows()));
  assert.equal(await browser.evaluate("document.querySelectorAll('img, iframe, script:not(body > script)').length"), 0);
  await browser.press('Escape');

  // The flame graph is of the same instructions, with callers and callees of a function.
  await browser.evaluate('document.activeElement.blur()');
  await browser.press('3');
  await browser.until("document.querySelector('.flame canvas').dataset.boxes > 3");
  assert.match(await text('.detail'), new RegExp(`^all — ${commas(all)} instructions, 100.0 %`));
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  await browser.press('ArrowDown');
  await browser.press('s');
  await browser.until("/: callers and callees$/.test(document.querySelector('.flames h2').innerText)");
  await browser.press('Escape');

  // The summary says that there are no ticks; nothing is wider than a phone.
  await browser.press('1');
  assert.match(await text('.summary'), /The trace has no ticks/);
  await browser.send('Emulation.setDeviceMetricsOverride', { width: 390, height: 844, deviceScaleFactor: 1, mobile: true });
  for (const tab of ['1', '2', '3', '4']) {
    await browser.press(tab);
    assert.ok((await browser.evaluate('document.documentElement.scrollWidth')) <= 390, `view ${tab} is too wide`);
  }
  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((url) => !url.startsWith('about:')), [`file://${file}`]);
  if (process.argv[4]) {
    await browser.send('Emulation.setDeviceMetricsOverride', { width: 1280, height: 900, deviceScaleFactor: 1, mobile: false });
    for (const tab of ['3', '4']) {
      await browser.press(tab);
      await browser.picture(`${process.argv[4]}-${tab}.png`);
    }
  }
} finally {
  await browser.end();
}
