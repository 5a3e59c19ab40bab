// SPDX-License-Identifier: MIT
// A page that lacks most call paths still tells in Chromium where the time went, and when: page_left_out.mjs PAGE.html.
import assert from 'node:assert/strict';
import { Browser } from '../support/browser.mjs';

const [file] = process.argv.slice(2);
const browser = await Browser.start({ width: 1280, height: 900 });
try {
  await browser.open(file);
  const rows = await browser.evaluate(`[...document.querySelectorAll('.summary tbody tr')].map((row) => [...row.cells].map((cell) => cell.innerText))`);
  const share = (name) => parseFloat(rows.find((cells) => cells[2] === name)?.[0] ?? '0');
  console.log(rows.slice(0, 3).join(' | '));
  assert.ok(rows.length > 10, String(rows));
  assert.ok(share('[left out]') < 20, String(rows));
  // The ticks of a half of the time are about a half.
  const box = await browser.box('.timeline canvas');
  const left = box.x + 250, right = box.x + box.width - 30;
  await browser.drag({ x: left, y: box.y + 60 }, { x: (left + right) / 2, y: box.y + 60 });
  const [some, all] = (await browser.evaluate(`document.body.innerText.match(/([\\d,]+) of ([\\d,]+) ticks/).slice(1)`)).map((text) => Number(text.replaceAll(',', '')));
  console.log(`${some} of ${all} ticks in the selected time`);
  assert.ok(some > 0.2 * all && some < 0.8 * all, `${some} of ${all}`);
} finally {
  await browser.end();
}
