import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { keyReads } from '@svc/testing/key-reads.ts';
import { configKeys, configPathOf } from './keys.ts';
import type { ConfigKey } from './keys.ts';
import { NOT_BUILT } from './not-built.ts';

const PACKAGES = join(import.meta.dirname, '..', '..');
/** What shows the configuration to people is no use of it. */
const ECHOES = ['server/api/monitor/'];
/** Values that follow from others: a function counts when somebody outside uses it. */
const DERIVED = ['resolved.ts', 'secret-key.ts', 'executor-names.ts'];

const paths = configKeys.map(configPathOf);
const keyOf = new Map(configKeys.map((key) => [configPathOf(key).join('.'), key]));

const sources = globSync('{server,cli}/**/*.ts', { cwd: PACKAGES, exclude: ['**/node_modules/**', '**/*.test.ts'] })
  .filter((file) => !file.startsWith('server/config/') && !ECHOES.some((folder) => file.startsWith(folder)))
  .map((file) => ({ file, text: readFileSync(join(PACKAGES, file), 'utf8') }));

const derived = DERIVED.flatMap((file) =>
  readFileSync(join(import.meta.dirname, file), 'utf8')
    .split(/^(?=export )/m)
    .map((text) => ({ name: /^export (?:async )?(?:function|const) (\w+)/.exec(text)?.[1] ?? '', text }))
    .filter(({ name }) => name !== '' && sources.some((source) => new RegExp(`\\b${name}\\(`).test(source.text))),
);

/** Of each key, who reads it. */
const readers = new Map<ConfigKey, string[]>();
for (const { file, text } of [...sources, ...derived.map(({ name, text }) => ({ file: `config: ${name}()`, text }))]) {
  for (const path of keyReads(text, paths)) {
    const key = keyOf.get(path);
    if (key) readers.set(key, [...(readers.get(key) ?? []), file]);
  }
}

describe('every configuration key is honoured or refused', () => {
  test('one that no code reads is in the table of what is not built', () => {
    expect(configKeys.filter((key) => !readers.has(key) && !NOT_BUILT[key])).toEqual([]);
  });

  test('the table shrinks: what it refuses altogether, no code reads', () => {
    const both = configKeys.filter((key) => readers.has(key) && NOT_BUILT[key] && !NOT_BUILT[key].values);
    expect(both.map((key) => `${key}: ${readers.get(key)?.join(', ')}`)).toEqual([]);
  });

  test('the search sees what is there', () => {
    expect(readers.get('executor.http_user_agent')).toEqual(['server/executors/task-settings.ts']);
    expect(readers.get('secrets.backend_kwargs')).toEqual(['config: secretsBackendKwargs()']);
    expect(readers.get('executor.unreachable_after')).toContain('server/create-run-engine.ts');
  });
});
