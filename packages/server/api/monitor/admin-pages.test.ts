/** What the admin pages of the web UI read: configuration, providers, forms of connections; and the button that parses a file. */
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { sampleDag } from '@svc/testing/engine/sample-dag.ts';
import { ensureTenant } from '../../auth/tenants.ts';
import { recordInstalledProviders } from '../../db/dags/providers.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-admin-pages-'));
const workspace = join(folder, 'workspace');
let server: TestServer;
let token: string;

beforeAll(async () => {
  mkdirSync(workspace);
  server = await startTestServer({ 'ui.workspace': workspace, 'ui.instance-name': 'Tests' });
  token = await server.login();
});
afterAll(async () => {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
});

const get = (path: string, headers: Record<string, string> = {}) => server.call(path, { token, headers });
type Sections = { sections: { name: string; options: { key: string; value: string }[] }[] };

describe('the configuration', () => {
  it('never shows a secret, nor the password in an address', async () => {
    const { text } = await get('/api/v2/config');
    expect(text).not.toContain(server.config.auth.jwt.secret);
    expect(text).not.toContain(server.config.secretKey);
    expect(text).not.toContain(server.config.auth.bootstrap.password);
    const { sections } = JSON.parse(text) as Sections;
    const auth = sections.find(({ name }) => name === 'auth');
    expect(auth?.options).toContainEqual({ key: 'jwt.secret', value: '***' });
  });

  it('is shown as it is in force, by section, option and as text', async () => {
    const option = { key: 'instance_name', value: 'Tests' };
    expect((await get('/api/v2/config?section=ui')).json<Sections>().sections).toEqual([
      { name: 'ui', options: expect.arrayContaining([option]) as object },
    ]);
    const one = '/api/v2/config/section/ui/option/instance_name';
    expect((await get(one)).json()).toEqual({ sections: [{ name: 'ui', options: [option] }] });
    expect((await get(one, { accept: 'text/plain' })).text).toBe('[ui]\ninstance_name = Tests\n');
  });

  it.each([
    '/api/v2/config?section=none',
    '/api/v2/config/section/ui/option/none',
    '/api/v2/config/section/x/option/y',
  ])('is not found at %s', async (path) => expect((await get(path)).status).toBe(404));
});

it('providers are the standard one, what is installed, and what the newest versions of DAGs ask for', async () => {
  type Providers = { providers: { package_name: string; version: string }[]; total_entries: number };
  const register = async (dependencies: string[]) => {
    const spec = {
      ...sampleDag({ dagId: 'asks', taskId: 'task', text: dependencies.join() }),
      project: { dependencies },
    };
    expect((await server.call('/api/v2/dags/asks/dagVersions', { method: 'POST', token, body: { spec } })).status).toBe(
      201,
    );
    const { providers, total_entries: total } = (await get('/api/v2/providers')).json<Providers>();
    expect(total).toBe(providers.length);
    return providers.map((provider) => [provider.package_name, provider.version]);
  };
  const standard = ['apache-airflow-providers-standard', '1.21.0'];
  expect(await register(['apache-airflow-providers-ftp'])).toEqual([['apache-airflow-providers-ftp', 'any'], standard]);
  expect(
    await register([
      'duckdb',
      'apache-airflow-providers-http[x]==5.2.0',
      'Apache_Airflow-Providers-SSH>=4,<5; python_version>"3"',
    ]),
  ).toEqual([['apache-airflow-providers-http', '5.2.0'], ['apache-airflow-providers-ssh', '>=4,<5'], standard]);
  const installed = [
    { name: 'apache-airflow-providers-ssh', version: '4.1.2', summary: 'Secure Shell' },
    { name: 'apache-airflow-providers-common-io', version: '1.6', summary: 'Files anywhere' },
    { name: 'orchard-hooks', version: '0.2', summary: 'Trees', documentation_url: 'https://example.org/docs' },
    { name: 'own-hooks', version: '1', summary: '' },
  ];
  await recordInstalledProviders(
    server.db.tenant((await ensureTenant(server.db.shared, 'default')).id),
    'asks',
    installed,
  );
  const { providers } = (await get('/api/v2/providers')).json<Providers>();
  expect(providers).toMatchObject([
    { package_name: 'apache-airflow-providers-common-io', version: '1.6', description: 'Files anywhere' },
    { package_name: 'apache-airflow-providers-http', version: '5.2.0' },
    {
      package_name: 'apache-airflow-providers-ssh',
      version: '4.1.2',
      description: 'Secure Shell',
      documentation_url: 'https://airflow.apache.org/docs/apache-airflow-providers-ssh/4.1.2/',
    },
    { package_name: 'apache-airflow-providers-standard', version: '1.21.0' },
    { package_name: 'orchard-hooks', documentation_url: 'https://example.org/docs' },
    { package_name: 'own-hooks', documentation_url: null },
  ]);
  expect(await register(['apache-airflow-providers-ftp'])).toEqual([['apache-airflow-providers-ftp', 'any'], standard]);
});

it('hook metadata has one form for every connection type, whose secrets are named so that they will be masked', async () => {
  type Form = { connection_type: string; extra_fields: Record<string, { schema: { format?: string } }> };
  const forms = (await get('/ui/connections/hook_meta')).json<Form[]>();
  const types = forms.map((form) => form.connection_type);
  expect(types.filter((type, index) => types.indexOf(type) !== index)).toEqual([]);
  expect(types).toEqual(
    expect.arrayContaining(['postgres', 'http', 'aws', 'google_cloud_platform', 'fs', 'snowflake']),
  );
  for (const { connection_type: type, extra_fields: fields } of forms) {
    const secrets = Object.keys(fields).filter((name) => fields[name]?.schema.format === 'password');
    if (secrets.length === 0) continue;
    const extra = JSON.stringify(Object.fromEntries(secrets.map((name) => [name, 'revealed'])));
    const body = { connection_id: 'form', conn_type: type, extra };
    const { text } = await server.call('/api/v2/connections', { method: 'POST', token, body });
    expect({ type, text }).toEqual({ type, text: expect.not.stringContaining('revealed') as string });
  }
});

it('the form of connections knows the types of the providers that tasks have, as those declare them', async () => {
  type Form = { connection_type: string; hook_name: string; standard_fields: object | null; extra_fields: object };
  const spec = sampleDag({ dagId: 'orchards', taskId: 'task', text: 'orchards' });
  await server.call('/api/v2/dags/orchards/dagVersions', { method: 'POST', token, body: { spec } });
  const type = { hook_class: 'x.Hook', hidden: ['schema'], titles: { login: 'Gardener' }, placeholders: {} };
  const rows = { label: 'Rows', description: 'of trees', schema: { type: ['integer', 'null'], default: 4 } };
  const types = [
    { ...type, type: 'orchard', name: 'Orchard', extra: { rows } },
    { ...type, type: 'postgres', name: 'Postgres of theirs', hidden: [], titles: {}, extra: {} },
  ];
  const provider = { name: 'orchard-hooks', version: '1', summary: '', connection_types: types };
  const tenant = server.db.tenant((await ensureTenant(server.db.shared, 'default')).id);
  await recordInstalledProviders(tenant, 'orchards', [provider]);
  const forms = (await get('/ui/connections/hook_meta')).json<Form[]>();
  expect(forms.filter((form) => form.connection_type === 'orchard')).toEqual([
    {
      connection_type: 'orchard',
      hook_class_name: 'x.Hook',
      default_conn_name: 'orchard_default',
      hook_name: 'Orchard',
      standard_fields: {
        description: null,
        url_schema: { hidden: true, title: null, placeholder: null },
        host: null,
        port: null,
        login: { hidden: false, title: 'Gardener', placeholder: null },
        password: null,
      },
      extra_fields: {
        rows: {
          value: 4,
          schema: { title: 'Rows', type: ['integer', 'null'] },
          description: 'of trees',
          source: null,
        },
      },
    },
  ]);
  // A provider that says nothing about the fields of a type leaves what we know of it.
  const [postgres, ...more] = forms.filter((form) => form.connection_type === 'postgres');
  expect(more).toEqual([]);
  expect(postgres).toMatchObject({
    hook_name: 'Postgres of theirs',
    standard_fields: { url_schema: { title: 'Database' } },
  });
});

describe('parsing a DAG file', () => {
  async function parse(dagId: string, fileloc: string) {
    const sample = sampleDag({ dagId, taskId: 'task', text: dagId }) as CompiledSpec;
    const spec = { ...sample, source: { ...sample.source, path: `${dagId}.py` } };
    const path = `/api/v2/dags/${dagId}`;
    await server.call(`${path}/dagVersions`, { method: 'POST', token, body: { spec, fileloc } });
    const { file_token: file } = (await get(path)).json<{ file_token: string }>();
    return server.call(`/api/v2/parseDagFile/${file}`, { method: 'PUT', token });
  }
  const long = new Date('2020-01-01T00:00:00Z');

  it('touches it, so that whoever watches the workspace compiles it', async () => {
    const file = join(workspace, 'dag.py');
    writeFileSync(file, '');
    utimesSync(file, long, long);
    const answer = await parse('inside', file);
    expect([answer.status, answer.text]).toEqual([201, 'null']);
    expect(statSync(file).mtimeMs).toBeGreaterThan(long.getTime());
  });

  it('touches nothing outside of the workspace, by whatever road', async () => {
    const outside = join(folder, 'outside.py');
    writeFileSync(outside, '');
    utimesSync(outside, long, long);
    symlinkSync(outside, join(workspace, 'link.py'));
    const roads = [
      outside,
      join(workspace, '..', 'outside.py'),
      join(workspace, 'link.py'),
      join(workspace, 'gone.py'),
    ];
    for (const [index, road] of roads.entries()) expect((await parse(`outside_${index}`, road)).status).toBe(409);
    expect(statSync(outside).mtimeMs).toBe(long.getTime());
  });

  it.each([
    'nonsense',
    'bnVsbA',
    Buffer.from('["a","b"]').toString('base64url'),
    Buffer.from('["\\u0000",""]').toString('base64url'),
  ])('of the token %s is not found', async (file) =>
    expect((await server.call(`/api/v2/parseDagFile/${file}`, { method: 'PUT', token })).status).toBe(404),
  );
});

it('the list of HITL details is empty where no task asks, and not found for a DAG that is not there', async () => {
  expect((await get('/api/v2/dags/~/dagRuns/~/hitlDetails?response_received=false')).json()).toEqual({
    hitl_details: [],
    total_entries: 0,
  });
  expect((await get('/api/v2/dags/nobody/dagRuns/~/hitlDetails')).status).toBe(404);
});
