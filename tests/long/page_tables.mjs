// SPDX-License-Identifier: MIT
// The tables of other programs in Chromium: page_tables.mjs PAGE.html, made with the files of page.bats. Each has a name that
// looks like markup.
import assert from 'node:assert/strict';
import { Browser } from '../support/browser.mjs';

const [file] = process.argv.slice(2);
const hostile = '</script><img src=x onerror=alert(1)>';
const browser = await Browser.start({ width: 1280, height: 900 });
try {
  await browser.open(file, '#tables');
  const rows = () => browser.evaluate("[...document.querySelectorAll('.tables:not(.away) tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent.replace(/^[▾▸] /, '')))");
  const use = (number) => browser.evaluate(`{ const list = document.querySelector('.tables:not(.away) select'); list.value = '${number}'; list.dispatchEvent(new Event('change')); }`);
  const titles = await browser.evaluate("[...document.querySelectorAll('.tables:not(.away) option')].map((option) => option.textContent)");
  assert.deepEqual(titles, ['Call trees (log-rt.json)', 'Java locks (jlm.json)', 'Java heap: classes (heap.json)', 'Java heap: leak suspects (heap.json)', 'AboveIdle (ai.json)']);

  // Call trees.
  assert.deepEqual(await rows(), [['thread 1', '1'], [hostile, '4']]);

  // Locks: as in log-jlm, then sorted by a column; what is not available is said.
  await use(1);
  assert.deepEqual(await rows(), [['Busy@ab', '25', '4', '4', '1', '0'], [`${hostile}@*`, '0', '15', '10', '0', '5']]);
  await browser.clickOn('.tables:not(.away) thead th:last-child button');
  assert.equal((await rows())[0][0], `${hostile}@*`);
  assert.match(await browser.evaluate("document.querySelector('.tables:not(.away) dl').innerText"), /Not available\s+hold times: they were not measured[^]*Not available\s+TIER2 and TIER3/);

  // The heap: a lower bound is said, cells without a number are a dash.
  await use(2);
  assert.deepEqual(await rows(), [[`${hostile}  (retained: at least)`, '5', '50', '70']]);
  await use(3);
  await browser.clickOn('.tables:not(.away) .controls button:nth-last-of-type(2)');
  assert.deepEqual(await rows(), [['Big 0xff', '1', '–', '75', '60'], [`keeps alive: ${hostile}`, '4', '30', '–', '–'], [`reached from root: ${hostile}`, '–', '–', '–', '–']]);
  await browser.clickOn('.tables:not(.away) thead th:nth-child(3) button');
  assert.deepEqual((await rows()).map(([name]) => name), ['Big 0xff', `keeps alive: ${hostile}`, `reached from root: ${hostile}`]);

  // AboveIdle in the order of time, with the CPUs below.
  await use(4);
  assert.deepEqual(await rows(), [['2025-11-24 16:00:00 UTC', '45', '44.5', '0.5', '55'], ['2025-11-24 16:00:01 UTC', '45', '44.5', '0.5', '55']]);
  await browser.clickOn('.tables:not(.away) tbody tr:first-child button');
  assert.deepEqual((await rows())[2], ['CPU 1', '50', '49.5', '0.5', '50']);

  assert.equal(await browser.evaluate("document.querySelectorAll('img, iframe, script:not(body > script)').length"), 0);
  // On a telephone nothing but a table is wider than the screen, names are no columns of letters, and each column has its title.
  for (const width of [360, 390]) {
    await browser.send('Emulation.setDeviceMetricsOverride', { width, height: 844, deviceScaleFactor: 1, mobile: true });
    assert.ok((await browser.evaluate('document.documentElement.scrollWidth')) <= width);
    const shown = (cells) => browser.evaluate(`[...document.querySelectorAll('.tables:not(.away) ${cells}')].filter((cell) => cell.offsetWidth > 0).length`);
    assert.equal(await shown('thead th'), await shown('tbody tr:first-child > *'));
    assert.ok((await browser.box('.tables:not(.away) tbody bdi')).width >= 120);
    for (const tab of ['1', '2', '3']) {
      await browser.press(tab);
      assert.ok((await browser.evaluate('document.documentElement.scrollWidth')) <= width, `tab ${tab}`);
    }
    await browser.evaluate("document.querySelector('#tab-tables').click()");
  }
  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((url) => !url.startsWith('about:')), [`file://${file}`]);
} finally {
  await browser.end();
}
