import { expect, it } from 'vitest';
import { readProviders } from './installed-providers.ts';

const provider = { name: 'orchard-hooks', version: '1', summary: '' };
const typeWith = (schema: unknown) => ({ 'connection-type': 'orchard', 'conn-fields': { rows: { schema } } });

it('a provider whose forms are too large, wide or deep to be shown is kept without them', async () => {
  const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) as object;
  const wide = Object.fromEntries(Array.from({ length: 100_000 }, (_, index) => [`field ${index}`, index]));
  for (const schema of [deep, wide, { text: 'x'.repeat(200_001) }]) {
    const [read] = await readProviders([{ ...provider, connection_types: [typeWith(schema)] }]);
    expect(read).toEqual({ ...provider, documentation_url: null });
  }
});

it('a form of a connection type that Postgres cannot store is kept without what it cannot', async () => {
  const [read] = await readProviders([{ ...provider, connection_types: [typeWith({ title: 'a\0b' })] }]);
  expect(read?.connection_types?.[0]?.extra).toEqual({ rows: { label: 'rows', schema: {} } });
});

it('a text that is cut between the halves of a character can be stored', async () => {
  const [read] = await readProviders([{ ...provider, summary: `${'x'.repeat(999)}\u{1f600}` }]);
  expect(read?.summary).toBe(`${'x'.repeat(999)}\uFFFD`);
});
