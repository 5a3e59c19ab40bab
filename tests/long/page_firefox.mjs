// SPDX-License-Identifier: MIT
// The page of a trace in Firefox: page_firefox.mjs PAGE.html REPORTS.json [--refused]. It opens from disk, its policy lets its own
// script and style through, it draws, and nothing is written to the console. --refused: the script was changed, and the policy says so.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Firefox } from '../support/firefox.mjs';

const [file, reports, refused] = process.argv.slice(2);
const json = JSON.parse(readFileSync(reports, 'utf8'));
const hostile = '</script><img src=x onerror=alert(1)>';
const commas = (number) => number.toLocaleString('en-US');

async function check(firefox) {
  await firefox.open(file);
  assert.equal(await firefox.evaluate("document.querySelector('[role=alert]')?.innerText ?? ''"), '');
  assert.equal(await firefox.evaluate("document.querySelector('.choices .muted').innerText"), `${commas(json.ticks)} of ${commas(json.ticks)} ticks`);
  assert.notEqual(await firefox.evaluate('getComputedStyle(document.body).maxWidth'), 'none', 'the style is refused');

  // Functions, with a name that looks like markup.
  await firefox.press('2');
  await firefox.evaluate("[...document.querySelectorAll('.tree .controls button')].find(({ innerText }) => /Open all/.test(innerText))?.click()");
  await firefox.press('/');
  for (const letter of 'onerror') await firefox.press(letter);
  await firefox.until(`[...document.querySelectorAll('.tree .space .row')].some((row) => row.innerText.includes(${JSON.stringify(hostile)}))`);
  assert.equal(await firefox.evaluate("document.querySelectorAll('img, iframe, script:not(body > script)').length"), 0);
  await firefox.press('\uE00C'); // Escape
  await firefox.evaluate('document.activeElement.blur()');

  // Pictures: canvases with many colours.
  await firefox.press('3');
  await firefox.until("document.querySelector('.flame canvas').dataset.boxes > 5");
  for (const canvas of ['.flame canvas', '.timeline canvas']) {
    const colours = await firefox.evaluate(`(() => { const canvas = document.querySelector(${JSON.stringify(canvas)});
      const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size; })()`);
    assert.ok(colours > 10, `${canvas} has ${colours} colours`);
  }
  if (process.env.PICTURE) await firefox.picture(process.env.PICTURE);
  assert.deepEqual(await firefox.messages(file), []);
}

async function checkRefused(firefox) {
  await firefox.send('WebDriver:Navigate', { url: `file://${file}` });
  assert.equal(await firefox.evaluate("document.documentElement.dataset.ready ?? 'no'"), 'no');
  assert.match((await firefox.messages(file)).join(), /Content-Security-Policy/);
}

const firefox = await Firefox.start();
try {
  await (refused ? checkRefused(firefox) : check(firefox));
} finally {
  await firefox.end();
}
