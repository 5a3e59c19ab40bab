// SPDX-License-Identifier: MIT
// The page of post --diff --html in Chromium: page_diff.mjs PAGE.html. In the new trace alpha calls shared nine times as long as before,
// so that the share of beta is about half.
import assert from 'node:assert/strict';
import { Browser } from '../support/browser.mjs';

const browser = await Browser.start();
try {
  await browser.open(process.argv[2], '#flame');
  const text = (selector) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  await browser.until("document.querySelector('.flame canvas').dataset.boxes > 5");
  assert.match(await text('.flames .legend'), /a larger share than in old\.nrm2/);
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  const seen = {};
  await browser.press('ArrowDown');
  for (let i = 0; i < 40 && !(seen.alpha && seen.beta); ++i) {
    const detail = await text('.detail');
    const found = /^(alpha|beta) — .* in old\.nrm2 [\d,]+ ticks, [\d.]+ % · ([+−])([\d.]+) points/.exec(detail);
    if (found) seen[found[1]] = { sign: found[2], points: Number(found[3]), detail };
    await browser.press(/^(alpha|beta|recurse) /.test(detail) ? 'ArrowRight' : 'ArrowDown');
  }
  assert.equal(seen.alpha?.sign, '+', JSON.stringify(seen));
  assert.equal(seen.beta?.sign, '−', JSON.stringify(seen));
  assert.ok(seen.alpha.points > 20 && seen.alpha.points < 50, seen.alpha.detail); // 20 % to 56 %
  assert.ok(seen.beta.points > 8 && seen.beta.points < 30, seen.beta.detail); // 40 % to 22 %
  const widths = () => browser.evaluate("document.querySelector('.flame canvas').dataset.boxes");
  assert.ok((await widths()) > 5);
  await browser.evaluate("{ const list = document.querySelector('.flames select:has(option[value=no])'); list.value = 'no'; list.dispatchEvent(new Event('change')); }");
  await browser.until("!document.querySelector('.flames .legend').checkVisibility()");
  assert.deepEqual(browser.messages, []);
} finally {
  await browser.end();
}
