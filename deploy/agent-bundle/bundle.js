// node bundle.js TARGET REHEARSAL
// The agent as one file, and the few lines that start Python as another, with what it reads beside itself. A container for one
// attempt starts it anew every time, and finding, reading and stripping some 400 modules takes three times as long as all that
// is left (npm run bench -- pod-start).
// And, in a folder of its own, what is needed once, when the image is built.
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';

const [target, rehearsal] = process.argv.slice(2);
if (rehearsal === undefined) throw new Error('usage: node bundle.js TARGET REHEARSAL');
const here = import.meta.dirname;
const agent = join(here, '..', '..', 'packages', 'agent');

await bundle(join(agent, 'main.ts'), join(target, 'main.cjs'), 'cjs');
await bundle(join(agent, 'first-process.ts'), join(target, 'first-process.cjs'), 'cjs');
await bundle(join(here, 'rehearsal.js'), join(rehearsal, 'rehearsal.mjs'), 'esm');
for (const file of [join(agent, 'package.json'), join(here, 'start.cjs')])
  copyFileSync(file, join(target, basename(file)));
copyFileSync(join(here, 'keep-code.cjs'), join(rehearsal, 'keep-code.cjs'));

async function bundle(input, file, format) {
  await build({ input, platform: 'node', output: { file, format, codeSplitting: false } });
}
