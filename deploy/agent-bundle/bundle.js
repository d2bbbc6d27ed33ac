// node bundle.js TARGET
// The agent as one file, with what it reads beside itself. A container for one attempt starts it anew every time, and
// finding, reading and stripping some 400 modules takes three times as long as all that is left (npm run bench -- pod-start).
import { copyFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { build } from 'rolldown';

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: node bundle.js TARGET');
const packages = join(import.meta.dirname, '..', '..', 'packages');

await build({
  input: join(packages, 'agent', 'main.ts'),
  platform: 'node',
  output: { file: join(target, 'main.js'), format: 'esm', codeSplitting: false },
});
const manifest = join(packages, 'agent', 'package.json');
for (const file of [manifest, join(import.meta.dirname, 'start.js')]) copyFileSync(file, join(target, basename(file)));
