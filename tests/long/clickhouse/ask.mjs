// SPDX-License-Identifier: MIT
// Asks the questions of pitrace-fleet's SQL of ClickHouse's engine. Usage: ask.mjs DOCUMENT SQL-FOLDER FLEET; DOCUMENT is
// docs/fleet.md, whose statements for ClickHouse make the views. Prints the answers as JSON, by question.
import { createRequire } from 'module';
import { readFileSync } from 'fs';

const { Session } = createRequire(import.meta.url)('chdb');
const [document, sql, fleet] = process.argv.slice(2);
const session = new Session();
session.query('CREATE DATABASE fleet');
session.query('USE fleet');

const block = readFileSync(document, 'utf8').match(/With ClickHouse.*?```sql\n(.*?)```/s)[1];
for (const statement of block.split(/;\n/).filter((text) => text.trim()))
  session.query(statement.replaceAll('/srv/fleet', fleet).replace(/ WHERE date >= .*$/, ''));

const question = (file, names = {}) =>
  session
    .query(readFileSync(`${sql}/${file}.sql`, 'utf8').replace(/\{(\w+)\}/g, (_, name) => names[name] ?? "''"), 'JSONEachRow')
    .toString()
    .split('\n')
    .filter((line) => line)
    .map((line) => JSON.parse(line));

const answers = { summary: question('summary')[0], hosts: question('hosts')[0] };
for (const name of ['host', 'kernel', 'service', 'process', 'module']) answers[name] = question('top', { name });
answers.diff = question('diff', { name: 'process' });
answers.versions = question('versions', { module: "'[kernel]'", version: 'kernel' });
for (const file of ['paths', 'stacks', 'page', 'page_stacks']) answers[file] = question(file);
console.log(JSON.stringify(answers));
