// SPDX-License-Identifier: MIT
// Opens pages of special traces in Chromium: page_kinds.mjs NO-STACKS.html DAMAGED.html NO-TICKS.html.
import assert from 'node:assert/strict';
import { Browser } from '../support/browser.mjs';

const [noStacks, damaged, noTicks] = process.argv.slice(2);
const browser = await Browser.start();
try {
  const text = () => browser.evaluate('document.body.innerText');
  await browser.open(noStacks, '#flame');
  assert.match(await text(), /has no call stacks/);
  assert.match(await text(), /has no context switches/);
  assert.ok((await browser.evaluate("document.querySelector('.flame canvas').dataset.boxes")) > 1);
  await browser.open(damaged);
  assert.match(await browser.evaluate("document.querySelector('.lost').innerText"), /damaged in/);
  for (const tab of ['#summary', '#tree']) {
    await browser.open(noTicks, tab);
    assert.match(await text(), /The trace has no ticks/);
  }
  // Its flame graph is about where threads were blocked.
  await browser.open(noTicks, '#flame');
  assert.match(await browser.evaluate("document.querySelector('.detail').innerText"), /^all — [\d,.]+ ms, 100\.0 %/);
  assert.match(await text(), /The context switches have no call stacks/);
  assert.deepEqual(browser.messages, []);
} finally {
  await browser.end();
}
