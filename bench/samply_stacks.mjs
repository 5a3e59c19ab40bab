// SPDX-License-Identifier: MIT
// Prints the stacks of a profile of samply record --save-only --unstable-presymbolicate as folded lines, from the outermost frame.
// Usage: samply_stacks.mjs PROFILE.json.gz [PROCESS]   (of this name only; PROFILE.json.syms.json is beside it)
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';

const [path, wanted] = process.argv.slice(2);
const profile = JSON.parse(gunzipSync(readFileSync(path)));
const symbols = JSON.parse(readFileSync(path.replace(/\.gz$/, '.syms.json')));
const tables = new Map(symbols.data.map((file) => [file.code_id, file.symbol_table.sort((a, b) => a.rva - b.rva)]));

// The name of the function at an address of a library; "?": not known.
function nameAt(library, address) {
  const table = tables.get(profile.libs[library]?.codeId) ?? [];
  let first = 0;
  let end = table.length;
  while (first < end) {
    const middle = (first + end) >> 1;
    if (table[middle].rva <= address) first = middle + 1;
    else end = middle;
  }
  const found = table[first - 1];
  return found && address < found.rva + (found.size ?? Infinity) ? symbols.string_table[found.symbol] : '?';
}

const ticks = new Map();
for (const thread of profile.threads) {
  if (wanted && thread.processName !== wanted) continue;
  const { frameTable, funcTable, resourceTable, stackTable, samples } = thread;
  const paths = stackTable.frame.map(() => null);
  const pathOf = (stack) => {
    if (stack === null) return '';
    if (paths[stack] !== null) return paths[stack];
    const frame = stackTable.frame[stack];
    const resource = funcTable.resource[frameTable.func[frame]];
    const name = resource < 0 ? '?' : nameAt(resourceTable.lib[resource], frameTable.address[frame]);
    const caller = pathOf(stackTable.prefix[stack]);
    return (paths[stack] = (caller === '' ? '' : `${caller};`) + name.replaceAll(';', ','));
  };
  samples.stack.forEach((stack, i) => {
    if (stack === null) return;
    const count = samples.weight ? samples.weight[i] : 1;
    ticks.set(pathOf(stack), (ticks.get(pathOf(stack)) ?? 0) + count);
  });
}
for (const [stack, count] of ticks) console.log(`${stack} ${count}`);
