import { expect, it } from 'vitest';
import { ProviderReportError, readProviders } from './installed-providers.ts';

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

it('everything that the form of a connection shows is read, and what does not fit is left out', async () => {
  const type = {
    'connection-type': 'orchard',
    'hook-class-name': 'orchard.hooks.OrchardHook',
    'hook-name': 'Orchard',
    'ui-field-behaviour': {
      'hidden-fields': ['port', 5, 'extra'],
      relabeling: { login: 'Gardener', port: 5 },
      placeholders: { host: 'tree.example.com' },
    },
    'conn-fields': {
      rows: { label: 'Rows', description: 'of trees', schema: { type: 'integer' } },
      plain: {},
      wrong: 'a text',
    },
  };
  const [read] = await readProviders([
    { ...provider, documentation_url: 'https://example.com/a b', connection_types: [type, 'wrong', null] },
  ]);
  expect(read).toEqual({
    ...provider,
    documentation_url: 'https://example.com/a%20b',
    connection_types: [
      {
        type: 'orchard',
        hook_class: 'orchard.hooks.OrchardHook',
        name: 'Orchard',
        hidden: ['port', 'extra'],
        titles: { login: 'Gardener' },
        placeholders: { host: 'tree.example.com' },
        extra: {
          rows: { label: 'Rows', description: 'of trees', schema: { type: 'integer' } },
          plain: { label: 'plain', schema: {} },
        },
      },
    ],
  });
});

it('a connection type without a readable name is called by its type, and one with an impossible type is left out', async () => {
  const types = [
    { 'connection-type': 'a', 'hook-name': '', 'hook-class-name': 5, 'ui-field-behaviour': [], 'conn-fields': [] },
    { 'connection-type': 'with space' },
    { 'connection-type': 5 },
  ];
  const [read] = await readProviders([{ ...provider, connection_types: types }]);
  expect(read?.connection_types).toEqual([
    { type: 'a', hook_class: null, name: 'a', hidden: [], titles: {}, placeholders: {}, extra: {} },
  ]);
  const [none] = await readProviders([{ ...provider, connection_types: types.slice(1) }]);
  expect(none).not.toHaveProperty('connection_types');
});

it('a link of a provider that is no web page is not shown, because people click on it', async () => {
  for (const url of ['javascript:alert(1)', 'file:///etc/passwd', 'nonsense', 5, `https://${'x'.repeat(1_001)}.test`]) {
    const [read] = await readProviders([{ ...provider, documentation_url: url }]);
    expect(read?.documentation_url).toBeNull();
  }
});

it('a report that is no list of providers is refused with the reason', async () => {
  const refused = (reported: unknown[]): Promise<unknown> => readProviders(reported).catch((error: unknown) => error);
  expect(await refused(['text'])).toEqual(new ProviderReportError('a provider must be an object'));
  expect(await refused([[]])).toEqual(new ProviderReportError('a provider must be an object'));
  expect(await refused([{ ...provider, version: 1 }])).toEqual(
    new ProviderReportError('version of a provider must be a text'),
  );
  expect(await refused([{ ...provider, summary: 'a\0b' }])).toBeInstanceOf(ProviderReportError);
  const many = Array.from({ length: 10_000 }, () => provider);
  expect(await refused(many)).toMatchObject({ message: expect.stringContaining('must be a list of at most') });
});
