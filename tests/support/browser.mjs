// SPDX-License-Identifier: MIT
// Drives Chromium through its DevTools protocol, over pipes: opens a page, sends input, evaluates expressions.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const names = { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Enter: 13, Escape: 27, Backspace: 8, Home: 36, End: 35 };

export class Browser {
  static async start({ width = 1280, height = 900, dark = false } = {}) {
    const browser = new Browser();
    browser.profile = mkdtempSync(join(tmpdir(), 'browser-'));
    browser.process = spawn(
      'chromium',
      ['--headless=new', '--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--no-first-run', '--remote-debugging-pipe', `--user-data-dir=${browser.profile}`, 'about:blank'],
      { stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'], detached: true },
    );
    browser.ended = new Promise((done) => browser.process.on('exit', done));
    browser.calls = new Map();
    browser.messages = []; // of the page's console, and its errors
    browser.requests = []; // addresses that the page has asked for
    browser.next = 0;
    let rest = '';
    browser.process.stdio[4].on('data', (bytes) => {
      const parts = (rest + bytes).split('\0');
      rest = parts.pop();
      for (const part of parts) browser.take(JSON.parse(part));
    });
    const { targetInfos } = await browser.send('Target.getTargets');
    const page = targetInfos.find(({ type }) => type === 'page');
    ({ sessionId: browser.session } = await browser.send('Target.attachToTarget', { targetId: page.targetId, flatten: true }));
    for (const domain of ['Page', 'Runtime', 'Log', 'Network']) await browser.send(`${domain}.enable`);
    await browser.send('Emulation.setDeviceMetricsOverride', { width, height, deviceScaleFactor: 1, mobile: false });
    await browser.send('Emulation.setEmulatedMedia', { features: [{ name: 'prefers-color-scheme', value: dark ? 'dark' : 'light' }] });
    return browser;
  }

  take(message) {
    if (message.id !== undefined) {
      const { good, bad } = this.calls.get(message.id);
      this.calls.delete(message.id);
      if (message.error) bad(new Error(message.error.message));
      else good(message.result);
    } else if (message.method === 'Runtime.exceptionThrown') this.messages.push(message.params.exceptionDetails.exception?.description ?? 'an exception');
    else if (message.method === 'Log.entryAdded') this.messages.push(message.params.entry.text);
    else if (message.method === 'Network.requestWillBeSent') this.requests.push(message.params.request.url);
  }

  send(method, params = {}) {
    const id = ++this.next;
    this.process.stdio[3].write(`${JSON.stringify({ id, method, params, sessionId: this.session })}\0`);
    return new Promise((good, bad) => this.calls.set(id, { good, bad }));
  }

  async evaluate(expression) {
    const { result, exceptionDetails } = await this.send('Runtime.evaluate', { expression, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
    return result.value;
  }

  // Waits until an expression is true.
  async until(expression, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await new Promise((done) => setTimeout(done, 50)))
      if (await this.evaluate(expression)) return;
    throw new Error(`never true: ${expression}`);
  }

  async open(path, hash = '') {
    await this.send('Page.navigate', { url: 'about:blank' });
    await this.send('Page.navigate', { url: `file://${path}${hash}` });
    await this.until("location.protocol === 'file:' && document.documentElement?.dataset.ready === 'yes'");
  }

  async press(key, modifiers = 0) {
    const code = names[key] ?? key.toUpperCase().charCodeAt(0);
    const text = names[key] ? undefined : key;
    await this.send('Input.dispatchKeyEvent', { type: 'keyDown', key, text, windowsVirtualKeyCode: code, modifiers });
    await this.send('Input.dispatchKeyEvent', { type: 'keyUp', key, windowsVirtualKeyCode: code, modifiers });
  }

  async type(text) {
    for (const letter of text) await this.press(letter);
  }

  mouse(type, x, y, clickCount = 1) {
    return this.send('Input.dispatchMouseEvent', { type, x, y, button: 'left', buttons: type === 'mouseReleased' ? 0 : 1, clickCount });
  }

  async click(x, y) {
    await this.mouse('mousePressed', x, y);
    await this.mouse('mouseReleased', x, y);
  }

  async drag(from, to) {
    await this.mouse('mousePressed', from.x, from.y);
    await this.mouse('mouseMoved', (from.x + to.x) / 2, to.y);
    await this.mouse('mouseMoved', to.x, to.y);
    await this.mouse('mouseReleased', to.x, to.y);
  }

  // Where an element is on the screen.
  box(selector) {
    return this.evaluate(`(() => { const r = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return { x: r.x, y: r.y, width: r.width, height: r.height }; })()`);
  }

  async clickOn(selector) {
    await this.evaluate(`document.querySelector(${JSON.stringify(selector)}).scrollIntoView({ block: 'nearest' })`);
    const { x, y, width, height } = await this.box(selector);
    await this.click(x + width / 2, y + height / 2);
  }

  async picture(path) {
    const { data } = await this.send('Page.captureScreenshot', { format: 'png' });
    writeFileSync(path, Buffer.from(data, 'base64'));
  }

  async end() {
    this.send('Browser.close').catch(() => {});
    await Promise.race([this.ended, new Promise((done) => setTimeout(done, 5000).unref())]);
    try {
      process.kill(-this.process.pid, 'SIGKILL'); // all of its processes
    } catch {
      // They have ended.
    }
    for (let tries = 0; tries < 50; ++tries)
      try {
        return rmSync(this.profile, { recursive: true, force: true });
      } catch {
        await new Promise((done) => setTimeout(done, 100));
      }
  }
}
