// SPDX-License-Identifier: MIT
// Opens a file in speedscope, in Chromium, as its command-line tool does: speedscope.mjs BROWSER.mjs INDEX.html FILE prints the
// table of its view of functions: total time, own time, name.
import { readFileSync, writeFileSync } from 'node:fs';
import { basename, resolve } from 'node:path';

const [driver, page, file] = process.argv.slice(2).map((path) => resolve(path));
const { Browser } = await import(driver);
const browser = await Browser.start({ width: 1600, height: 3000 });
try {
  const profile = resolve('profile.js');
  writeFileSync(profile, `speedscope.loadFileFromBase64(${JSON.stringify(basename(file))}, "${readFileSync(file).toString('base64')}")`);
  await browser.send('Page.navigate', { url: `file://${page}#localProfilePath=${encodeURIComponent(profile)}` });
  await browser.until("document.body && /Sandwich/.test(document.body.innerText)");
  await browser.evaluate("[...document.querySelectorAll('div')].filter((tab) => /Sandwich$/.test(tab.innerText)).at(-1).click()");
  await browser.until("document.querySelectorAll('tr').length > 1");
  const rows = await browser.evaluate("[...document.querySelectorAll('tr')].map((row) => [...row.cells].map((cell) => cell.innerText))");
  for (const row of rows.slice(1)) console.log(row.join('\t'));
} finally {
  await browser.end();
}
