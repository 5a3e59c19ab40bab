// SPDX-License-Identifier: MIT
// Drives Firefox through Marionette, its own protocol of tests: opens a page, evaluates expressions, lists the console's messages.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

export class Firefox {
  static async start({ width = 1280, height = 900, program = 'firefox-esr' } = {}) {
    const firefox = new Firefox();
    firefox.profile = mkdtempSync(join(tmpdir(), 'firefox-'));
    // 0: the kernel chooses the port, which Firefox writes to its profile.
    writeFileSync(join(firefox.profile, 'user.js'), 'user_pref("marionette.port", 0);\nuser_pref("browser.shell.checkDefaultBrowser", false);\n');
    firefox.process = spawn(program, ['--headless', '--marionette', '--remote-allow-system-access', '--no-remote', `--width=${width}`, `--height=${height}`, '--profile', firefox.profile], {
      stdio: 'ignore',
      detached: true,
      env: { ...process.env, HOME: firefox.profile, MOZ_HEADLESS: '1' },
    });
    firefox.ended = new Promise((done) => firefox.process.on('exit', done).on('error', done));
    firefox.calls = new Map();
    firefox.next = 0;
    const port = await firefox.port();
    firefox.socket = connect(port, '127.0.0.1');
    firefox.listen();
    await firefox.send('WebDriver:NewSession', { capabilities: { alwaysMatch: { acceptInsecureCerts: false } } });
    await firefox.send('WebDriver:SetWindowRect', { width, height });
    return firefox;
  }

  async port() {
    for (let tries = 0; tries < 600; ++tries, await pause(100))
      try {
        const text = readFileSync(join(this.profile, 'MarionetteActivePort'), 'utf8');
        if (/^\d+/.test(text)) return Number.parseInt(text, 10);
      } catch {
        // It is not there yet.
      }
    throw new Error('Firefox does not listen');
  }

  // A message is its length in bytes, a colon, and JSON.
  listen() {
    let waiting = Buffer.alloc(0);
    this.socket.on('data', (bytes) => {
      waiting = Buffer.concat([waiting, bytes]);
      for (let colon; (colon = waiting.indexOf(':')) > 0; ) {
        const end = colon + 1 + Number(waiting.subarray(0, colon));
        if (waiting.length < end) return;
        const message = JSON.parse(waiting.subarray(colon + 1, end));
        waiting = waiting.subarray(end);
        if (!Array.isArray(message)) continue; // the greeting
        const [, id, error, result] = message;
        const { good, bad } = this.calls.get(id);
        this.calls.delete(id);
        if (error) bad(new Error(`${error.error}: ${error.message}`));
        else good(result);
      }
    });
  }

  send(command, parameters = {}) {
    const id = ++this.next;
    const text = JSON.stringify([0, id, command, parameters]);
    const answer = new Promise((good, bad) => this.calls.set(id, { good, bad }));
    this.socket.write(`${Buffer.byteLength(text)}:${text}`);
    return answer;
  }

  async evaluate(expression) {
    return (await this.send('WebDriver:ExecuteScript', { script: `return (${expression});`, args: [], sandbox: null })).value;
  }

  async until(expression, seconds = 60) {
    for (const end = Date.now() + seconds * 1000; Date.now() < end; await pause(50)) if (await this.evaluate(expression)) return;
    throw new Error(`never true: ${expression}`);
  }

  async open(path) {
    await this.send('WebDriver:Navigate', { url: `file://${path}` });
    await this.until("document.documentElement.dataset.ready === 'yes'");
  }

  async press(key) {
    const actions = [{ type: 'keyDown', value: key }, { type: 'keyUp', value: key }];
    await this.send('WebDriver:PerformActions', { actions: [{ type: 'key', id: 'keys', actions }] });
  }

  // Errors and warnings of this page, and what its policy has refused.
  async messages(path) {
    await this.send('Marionette:SetContext', { value: 'chrome' });
    const all = await this.evaluate("Services.console.getMessageArray().map((one) => ({ source: String(one.sourceName ?? ''), text: String(one.errorMessage ?? one.message) }))");
    await this.send('Marionette:SetContext', { value: 'content' });
    return all.filter(({ source, text }) => source.includes(path) || text.includes(path)).map(({ text }) => text);
  }

  async picture(path) {
    const { value } = await this.send('WebDriver:TakeScreenshot', { full: false });
    writeFileSync(path, Buffer.from(value, 'base64'));
  }

  async end() {
    this.send('Marionette:Quit', { flags: ['eForceQuit'] }).catch(() => {});
    await Promise.race([this.ended, new Promise((done) => setTimeout(done, 5000).unref())]);
    this.socket.destroy();
    try {
      process.kill(-this.process.pid, 'SIGKILL'); // all of its processes
    } catch {
      // They have ended.
    }
    for (let tries = 0; tries < 50; ++tries, await pause(100))
      try {
        return rmSync(this.profile, { recursive: true, force: true });
      } catch {
        // A process still writes.
      }
  }
}
