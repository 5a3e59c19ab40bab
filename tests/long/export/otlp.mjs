// SPDX-License-Identifier: MIT
// Reads what protoc --decode has printed of a request of OTLP's profiles, and prints "process;outermost;...;innermost ticks" for each
// sample, with --services "service ticks" for each resource. Each reference must be to an element of its table.
import {readFileSync} from 'node:fs';

const parse = lines => {
  const message = {};
  for (let line; (line = lines.next().value) !== undefined && line !== '}';) {
    const [, name, text] = line.match(/^(\w+)(?: \{|: (.*))$/);
    const value = text === undefined ? parse(lines) : text.startsWith('"') ? text.slice(1, -1) : Number(text);
    (message[name] ??= []).push(value);
  }
  return message;
};
const unescaped = text => Buffer.from(text.replace(/\\([0-7]{3})|\\(.)/g, (all, octal, char) =>
  octal ? String.fromCharCode(parseInt(octal, 8)) : {n: '\n', t: '\t', r: '\r'}[char] ?? char), 'latin1').toString();

const text = readFileSync(0, 'latin1').split('\n').map(line => line.trim()).filter(Boolean);
const request = parse(text.values());
const tables = request.dictionary[0];
const at = (table, index) => {
  const element = tables[table][index];
  if (element === undefined) throw new Error(`${table} has no element ${index}`);
  return element;
};
const string = index => unescaped(at('string_table', index));
const attributes = indices => Object.fromEntries((indices ?? []).map(index => {
  const attribute = at('attribute_table', index);
  return [string(attribute.key_strindex[0]), unescaped(attribute.value[0].string_value[0])];
}));
const name = index => string(at('function_table', at('location_table', index).lines[0].function_index[0]).name_strindex[0]);

// The first element of each table is empty, and no text, and no pair of process and stack occurs twice.
for (const table of ['mapping_table', 'location_table', 'function_table', 'attribute_table', 'stack_table'])
  if (Object.keys(tables[table][0]).length !== 0) throw new Error(`${table} does not begin with an empty element`);
if (tables.string_table[0] !== '' || new Set(tables.string_table).size !== tables.string_table.length) throw new Error('texts');

for (const resource of request.resource_profiles) {
  const facts = Object.fromEntries(resource.resource[0].attributes.map(each => [each.key[0], unescaped(each.value[0].string_value[0])]));
  let sum = 0;
  for (const profile of resource.scope_profiles[0].profiles) {
    if (string(profile.sample_type[0].type_strindex[0]) !== 'samples') throw new Error('type of samples');
    const known = new Set();
    for (const sample of profile.samples) {
      const identity = `${sample.stack_index} ${sample.attribute_indices}`;
      if (known.has(identity)) throw new Error('a sample occurs twice');
      known.add(identity);
      const stack = at('stack_table', sample.stack_index[0]).location_indices.map(name).reverse();
      sum += sample.values[0];
      if (process.argv[2] !== '--services')
        console.log([attributes(sample.attribute_indices)['process.executable.name'] ?? '', ...stack].join(';'), sample.values[0]);
    }
  }
  if (process.argv[2] === '--services') console.log(facts['service.name'], facts['host.name'], sum);
}
