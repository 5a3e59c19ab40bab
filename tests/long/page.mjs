// SPDX-License-Identifier: MIT
// Drives the page of a trace in Chromium: page.mjs PAGE.html REPORTS.json OFFCPU. The trace is of tests/progs/calls.c, whose function
// alpha has a name that looks like markup.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Browser } from '../support/browser.mjs';

const [file, reports, offCpu] = process.argv.slice(2);
const json = JSON.parse(readFileSync(reports, 'utf8'));
const hostile = '</script><img src=x onerror=alert(1)>';
const commas = (number) => number.toLocaleString('en-US');
const rowsOf = (title) => json.reports.find((report) => report.title === title).rows;

const browser = await Browser.start({ width: 1280, height: 900 });
try {
  await browser.open(file);
  const text = (selector) => browser.evaluate(`document.querySelector(${JSON.stringify(selector)}).innerText`);
  const rows = () => browser.evaluate(`[...document.querySelectorAll('.tree .space .row')].map((row) => row.innerText.split('\\n').filter(Boolean))`);
  const level = (name) => browser.clickOn(`.tree input[name=${name}]`);

  // The rows of the reports, with the same ticks.
  await browser.press('2');
  await browser.until("!document.querySelector('.tree').classList.contains('away')");
  for (const name of ['module', 'symbol', 'line', 'instruction']) await level(name);
  const processes = (await rows()).map(([ticks]) => ticks);
  const expected = rowsOf('Process').map(({ ticks }) => ticks).filter((ticks) => ticks > 0);
  assert.deepEqual(processes, expected.map(commas).slice(0, processes.length));
  await level('process');
  await level('symbol');
  const recurse = rowsOf('Module_Symbol').flatMap(({ children }) => children).find(({ name }) => name === 'recurse');
  const shown = (await rows()).find((row) => row.includes('recurse'));
  assert.equal(shown?.[0], commas(recurse.ticks), String(await rows()));

  // Lines are a level, too, with their text; a line opens into its instructions.
  await level('symbol');
  await level('line');
  await level('instruction');
  const lines = () => browser.evaluate("[...document.querySelectorAll('.tree .space .row')].map((row) => [...row.querySelectorAll('bdi')].map((part) => part.textContent.trim()))");
  assert.ok((await lines()).some(([name]) => /^\+[0-9a-f]+/.test(name)), String(await lines()));
  await browser.clickOn('.tree .controls button:last-of-type'); // close all
  assert.ok((await lines()).some(([line, source]) => /^calls\.c:\d+$/.test(line) && /BURN/.test(source)), String(await lines()));
  await level('symbol');
  await level('line');
  await level('instruction');

  // The stacks that are broken by program are those of the whole trace.
  await browser.press('1');
  const [, broken, cut] = /reach the start of their thread; (\d+) broken, (\d+) cut/.exec(await browser.evaluate("document.querySelector('.summary').textContent"));
  const more = / ?([\d,]+) more are of/.exec(await text('.summary'))?.[1] ?? '0';
  const counted = await browser.evaluate("[...document.querySelectorAll('table.stacks tbody tr')].flatMap((row) => [1, 2].map((place) => Number(row.children[place].textContent.replaceAll(',', '')))).reduce((sum, part) => sum + part, 0)");
  assert.equal(counted + Number(more.replaceAll(',', '')), Number(broken) + Number(cut));
  await browser.press('2');

  // A hostile name is text.
  await browser.press('/');
  await browser.type('onerror');
  await browser.until("document.querySelectorAll('.tree .space .row').length === 1");
  assert.ok((await rows())[0].includes(hostile), String(await rows()));
  assert.equal(await browser.evaluate("document.querySelectorAll('img, iframe, script:not(body > script)').length"), 0);
  await browser.press('Escape');
  assert.equal(await browser.evaluate("document.querySelector('input[type=search]').value"), '');

  // The flame graph: search, zoom by mouse and keys, callers and callees.
  await browser.evaluate('document.activeElement.blur()');
  await browser.press('3');
  await browser.until("document.querySelector('.flame canvas').dataset.boxes > 5");
  assert.match(await text('.detail'), new RegExp(`^all — ${commas(json.ticks)} ticks, 100.0 %`));
  const boxes = () => browser.evaluate("Number(document.querySelector('.flame canvas').dataset.boxes)");
  const before = await boxes();
  const canvas = await browser.box('.flame canvas');
  await browser.click(canvas.x + 40, canvas.y + 30); // the widest box below the root
  await browser.until("!document.querySelector('.flames .controls button:last-of-type').hidden");
  assert.doesNotMatch(await text('.detail'), /^all/);
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  await browser.press('Backspace');
  await browser.until("document.querySelector('.detail').innerText.startsWith('all')");
  assert.equal(await boxes(), before);
  await browser.press('ArrowDown');
  await browser.press('s');
  await browser.until("/: callers and callees$/.test(document.querySelector('.flames h2').innerText)");
  await browser.press('Escape');
  await browser.until("document.querySelector('.flames h2').hidden");

  // Where threads were blocked and waited for a CPU: the sums of tprof.offcpu, whose rows are rounded to microseconds.
  const threads = readFileSync(offCpu, 'utf8').split('Process_Thread_Stack')[0].split('\n').filter((line) => line.startsWith(' TID')).map((line) => line.trim().split(/ +/).map(Number));
  const choose = (label, value) =>
    browser.evaluate(`{ const list = [...document.querySelectorAll('.flames label')].find((box) => box.innerText.startsWith(${JSON.stringify(label)})).querySelector('select'); list.value = ${JSON.stringify(value)}; list.dispatchEvent(new Event('change')); }`);
  const waited = async () => Number(/^all — ([\d,.]+) ms, 100\.0 %/.exec(await text('.detail'))?.[1].replaceAll(',', ''));
  for (const [kind, column] of [['blocked', 3], ['runnable', 2]]) {
    await choose('Threads', kind);
    await browser.until("/ ms, /.test(document.querySelector('.detail').innerText)");
    const sum = threads.reduce((all, row) => all + row[column], 0);
    assert.ok(Math.abs((await waited()) - sum) <= 0.0006 * threads.length, `${kind}: ${await text('.detail')}, not ${sum}`);
  }
  // Both and the time of ticks, by state.
  await choose('Threads', 'states');
  await browser.until("document.querySelector('.flames select').value === 'states'");
  const off = threads.reduce((all, row) => all + row[3] + row[2], 0);
  const running = (await waited()) - off;
  const tick = json.trace.tick_ns / 1e6;
  assert.ok(running > 0 && running <= json.ticks * tick + 0.002 * threads.length, `${await text('.detail')}, ${off} ms off the CPU`);
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  await browser.press('ArrowDown');
  assert.match(await text('.detail'), /^\[(blocked|running|waiting for a CPU)\] — [\d,.]+ ms, /);
  await browser.press('Backspace');
  // AboveIdle: the time in which threads ran, of that of all CPUs.
  await browser.press('1');
  const idle = await browser.evaluate("[...document.querySelectorAll('table.idle tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))");
  const seconds = Number(/^All of it, ([\d.]+) s\./.exec(await text('.timeline .range'))[1]);
  const cpus = idle.filter(([name]) => /^CPU \d+$/.test(name)).length;
  const ran = threads.reduce((all, row) => all + row[1], 0);
  const share = (100 * ran) / (1000 * seconds * cpus);
  assert.ok(Math.abs(parseFloat(idle[0][1]) - share) < 1, `${idle.join('; ')}, not ${share}`);
  for (const [, above, below] of idle) assert.ok(Math.abs(parseFloat(above) + parseFloat(below) - 100) < 0.11, `${above} ${below}`);
  await browser.press('3');
  await choose('Threads', 'blocked');
  await choose('Stacks', 'callers');
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  await browser.press('ArrowDown');
  assert.match(await text('.detail'), /^\[(sleeping|uninterruptible|parked|idle|blocked)\] — [\d,.]+ ms, /);
  const blocked = threads.reduce((all, row) => all + row[3], 0);
  await browser.evaluate('window.scrollTo(0, 0)');
  const lanes = await browser.box('.timeline canvas');
  await browser.drag({ x: lanes.x + 190 + (lanes.width - 190) * 0.25, y: lanes.y + 40 }, { x: lanes.x + 190 + (lanes.width - 190) * 0.5, y: lanes.y + 40 });
  await browser.evaluate("document.querySelector('.flame canvas').focus()");
  await browser.press('Backspace');
  await browser.until("document.querySelector('.detail').innerText.startsWith('all')");
  assert.ok((await waited()) > blocked * 0.1 && (await waited()) < blocked * 0.4, `${await text('.detail')} of ${blocked} in a quarter of the time`);
  await browser.evaluate('document.activeElement.blur()');
  await browser.press('Escape');
  await choose('Stacks', 'callees');
  await choose('Threads', 'ticks');
  assert.match(await text('.detail'), new RegExp(`${commas(json.ticks)} ticks, 100.0 %`));

  // The timeline says why a thread was off the CPU.
  await browser.evaluate('window.scrollTo(0, 0)');
  let why = '';
  for (let lane = 0; lane < 12 && why === ''; ++lane)
    for (let place = 1; place < 20 && why === ''; ++place) {
      await browser.send('Input.dispatchMouseEvent', { type: 'mouseMoved', x: lanes.x + 190 + ((lanes.width - 190) * place) / 20, y: lanes.y + 31 + 18 * lane });
      const told = await text('.timeline .under');
      if (/ ticks · \[[a-z]+\]( in \S.*)? [\d.]+ (ns|µs|ms|s)/.test(told)) why = told;
    }
  assert.notEqual(why, '', 'no lane says why its thread was off the CPU');

  // A stretch of time: all views are about it. Keys select, too.
  const total = () => text('.choices .muted');
  assert.equal(await total(), `${commas(json.ticks)} of ${commas(json.ticks)} ticks`);
  await browser.evaluate('window.scrollTo(0, 0)');
  const time = await browser.box('.timeline canvas');
  const at = (share) => ({ x: time.x + 190 + (time.width - 190) * share, y: time.y + 40 });
  await browser.drag(at(0.25), at(0.5));
  await browser.until("!document.querySelector('.choices .muted').innerText.startsWith('" + commas(json.ticks) + " of')");
  const part = Number((await total()).split(' ')[0].replaceAll(',', ''));
  assert.ok(part > json.ticks * 0.15 && part < json.ticks * 0.35, `${part} of ${json.ticks} ticks in a quarter of the time`);
  assert.match(await text('.detail'), new RegExp(`${commas(part)} ticks, 100.0 %`));
  assert.match(await text('.timeline .range'), / s to .* s, /);
  await browser.clickOn('.timeline .controls button'); // zoom in
  await browser.evaluate("document.querySelector('.timeline canvas').focus()");
  await browser.press('Backspace');
  await browser.press('Home');
  for (let i = 0; i < 30; ++i) await browser.press('ArrowRight', 8);
  const byKeys = Number((await total()).split(' ')[0].replaceAll(',', ''));
  assert.ok(byKeys > json.ticks * 0.2 && byKeys < json.ticks * 0.4, `${byKeys} ticks`);
  await browser.press('Escape');
  assert.equal(await total(), `${commas(json.ticks)} of ${commas(json.ticks)} ticks`);

  // Only one process.
  await browser.press('2');
  await level('process');
  await browser.clickOn('.tree .space .row .act');
  await browser.until("document.querySelector('.choices select').value.startsWith('process')");
  assert.equal((await total()).split(' ')[0], commas(rowsOf('Process').find(({ ticks }) => ticks > 0).ticks));

  // Narrow, dark and on paper: nothing is wider than the screen, all views are printed.
  await browser.send('Emulation.setDeviceMetricsOverride', { width: 390, height: 844, deviceScaleFactor: 1, mobile: true });
  for (const tab of ['1', '2', '3']) {
    await browser.press(tab);
    assert.ok((await browser.evaluate('document.documentElement.scrollWidth')) <= 390, `view ${tab} is too wide`);
  }
  const { data } = await browser.send('Page.printToPDF', {});
  assert.ok(data.length > 10_000);

  assert.deepEqual(browser.messages, []);
  assert.deepEqual(browser.requests.filter((url) => !url.startsWith('about:')), [`file://${file}`]);
} finally {
  await browser.end();
}
