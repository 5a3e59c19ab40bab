// SPDX-License-Identifier: MIT
// A profile store for tests: profile_store.mjs FOLDER PLAN [KEY CERTIFICATE]. Listens at a port of 127.0.0.1 and writes its number to
// FOLDER/port. PLAN has a word for each request, and the last one is for all that follow: a status, with seconds for Retry-After after a
// colon; or hang, close, endless (an answer without end), heads (headers without end), junk (an answer that is not one of OTLP),
// partial (OTLP's message that it rejected two profiles). Each request's head and
// body are written to FOLDER/NUMBER.json and FOLDER/NUMBER.body.
import {appendFileSync, readFileSync, renameSync, writeFileSync} from 'node:fs';
import http from 'node:http';
import https from 'node:https';

const [folder, plan, key, certificate] = process.argv.slice(2);
const words = plan.split(',');
let count = 0;

const endless = response => {
  const piece = Buffer.alloc(1 << 20, 'x');
  let sent = 0;
  const more = () => {
    while (!response.destroyed && sent < 1 << 30) {
      sent += piece.length;
      if (!response.write(piece)) return response.once('drain', more);
    }
    response.destroy();
  };
  response.on('close', () => writeFileSync(`${folder}/endless`, `${sent}\n`));
  response.writeHead(200);
  more();
};

const heads = socket => {
  socket.on('error', () => {});
  socket.write('HTTP/1.1 200 OK\r\n');
  for (let i = 0; i < 20000; ++i) socket.write(`X-${i}: ${'y'.repeat(1000)}\r\n`);
};

const answer = (word, response) => {
  const [status, seconds] = word.split(':');
  if (word === 'hang') return;
  if (word === 'close') return response.socket.destroy();
  if (word === 'endless') return endless(response);
  if (word === 'heads') return heads(response.socket);
  if (word === 'junk') return response.end('<html>');
  if (word === 'partial')
    return response.end(Buffer.from([0x0a, 11, 0x08, 2, 0x12, 7, ...Buffer.from('too old')]));
  const head = {'Location': 'https://127.0.0.1:1/'};
  if (seconds) head['Retry-After'] = seconds;
  response.writeHead(Number(status), head).end();
};

const take = (request, response) => {
  const number = count++;
  const pieces = [];
  request.on('data', piece => pieces.push(piece));
  request.on('end', () => {
    writeFileSync(`${folder}/${number}.body`, Buffer.concat(pieces));
    writeFileSync(`${folder}/${number}.json`, JSON.stringify({url: request.url, method: request.method, headers: request.headers}));
    appendFileSync(`${folder}/times`, `${Date.now()}\n`);
    answer(words[Math.min(number, words.length - 1)], response);
  });
};

const server = key ? https.createServer({key: readFileSync(key), cert: readFileSync(certificate)}, take) : http.createServer(take);
server.on('clientError', (error, socket) => socket.destroy());
server.listen(0, '127.0.0.1', () => {
  writeFileSync(`${folder}/.port`, `${server.address().port}\n`);
  renameSync(`${folder}/.port`, `${folder}/port`);
});
