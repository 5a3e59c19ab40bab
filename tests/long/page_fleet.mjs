// SPDX-License-Identifier: MIT
// The page of pitrace-fleet --html: page_fleet.mjs PAGE.html prints what its own script computes: all ticks, and those of each process,
// host and function; of a comparison the ticks of A. page_fleet.mjs PAGE.html chromium opens it in a browser.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import vm from 'node:vm';
import { inflateSync } from 'node:zlib';
import { Browser } from '../support/browser.mjs';

const [file, chromium] = process.argv.slice(2);
if (chromium) {
  const browser = await Browser.start();
  try {
    await browser.open(file, '#flame');
    await browser.until("document.querySelector('.flame canvas').dataset.boxes > 5");
    await browser.open(file, '');
    await browser.until("document.body.innerText.includes('Hosts')");
    assert.deepEqual(browser.messages, []);
  } finally {
    await browser.end();
  }
} else {
  const html = readFileSync(file, 'utf8');
  const context = vm.createContext({ Intl, TextDecoder, atob });
  vm.runInContext(/<script>([^]*?)<\/script>/.exec(html)[1], context);
  const page = vm.runInContext('pitrace', context);
  const data = JSON.parse(inflateSync(Buffer.from(/^<pre id="data" hidden>([^<]*)<\/pre>$/m.exec(html)[1], 'base64')));
  const trace = page.traceOf(data);
  const all = page.totals(trace, page.whole(trace));
  const by = (level) => {
    const sums = {};
    for (const { name, ticks } of page.makeRows(trace, all, [level])) sums[name] = (sums[name] ?? 0) + ticks;
    return sums;
  };
  const base = trace.base && { ticks: data.base.ticks, sum: data.base.paths.ticks.reduce((sum, ticks) => sum + ticks, 0) };
  console.log(JSON.stringify({ ticks: trace.ticks, total: all.total, process: by('process'), host: by('thread'), symbol: by('symbol'), base, bins: trace.bins,
    tables: data.tables.map(({ title, name }) => [title, name.length]) }));
}
