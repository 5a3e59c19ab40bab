// SPDX-License-Identifier: MIT
// Bundles the modules of src into template.html, or into the file that is given.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { build } from 'esbuild';

const bundle = async (entry, options) => {
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    charset: 'ascii',
    legalComments: 'none',
    target: 'es2022',
    write: false,
    ...options,
  });
  return result.outputFiles[0].text.trim();
};
const hash = (text) => createHash('sha256').update(text).digest('base64');

const script = await bundle('src/main.ts', { format: 'iife', globalName: 'pitrace' });
const style = await bundle('src/style.css', {});
// The parser would end the elements there, and post replaces the first mark.
for (const word of ['</script', '<!--', '@DATA@'])
  if (script.toLowerCase().includes(word.toLowerCase())) throw new Error(`the script contains ${word}`);
if (style.includes('</style')) throw new Error('the style contains </style');

const parts = { SCRIPT: script, STYLE: style, SCRIPT_HASH: hash(script), STYLE_HASH: hash(style) };
const page = readFileSync('src/shell.html', 'utf8').replace(/@(\w+)@/g, (mark, name) => parts[name] ?? mark);
if (page.split('@DATA@').length !== 2) throw new Error('the page must contain @DATA@ once');
writeFileSync(process.argv[2] ?? 'template.html', page);
