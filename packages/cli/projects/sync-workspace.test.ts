/** Keeping a control plane in step with a workspace, over HTTP and in process, with the real compiler and server. */
import { rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { Compiler } from '@svc/compiler/compiler.ts';
import { createWorkspaceSync } from '@svc/compiler/sync-workspace.ts';
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import { readHere } from '@svc/compiler/reading/workspace-reader.ts';
import type { WorkspaceReader } from '@svc/compiler/reading/workspace-reader.ts';
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import { dagText, workspaceOf, writeFiles } from '@svc/testing/compiler/workspace.ts';
import { zipOf } from '@svc/testing/repositories.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { startTestServer } from '@svc/testing/server/test-server.ts';
import type { TestServer } from '@svc/testing/server/test-server.ts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { createClient } from '../client/client.ts';
import { createDatabaseRegistrar } from './database-registrar.ts';
import { createHttpRegistrar } from './http-registrar.ts';

let server: TestServer;
let compiler: Compiler;
let token: string;
let registrars: Record<'http' | 'database', Registrar>;

beforeAll(async () => {
  [server, compiler] = await Promise.all([
    startTestServer(),
    pythonEnvironment().then((python) => createCompiler({ python, jobs: 2 })),
  ]);
  token = await server.login();
  const tenant = await ensureTenant(server.db.shared, 'default');
  registrars = {
    http: createHttpRegistrar(createClient({ server: server.url, token })),
    database: createDatabaseRegistrar({
      db: server.db.tenant(tenant.id),
      actor: { name: 'workspace', clientIp: '', requestId: '' },
    }),
  };
});
afterAll(async () => {
  await compiler.close();
  await server.close();
});
beforeEach(async () => {
  await server.db.shared.deleteFrom('import_errors').execute();
  await server.db.shared.deleteFrom('dags').execute();
});

type Providers = { package_name: string; version: string }[];
const listedProviders = async (): Promise<Providers> =>
  (await server.call('/api/v2/providers', { token })).json<{ providers: Providers }>().providers;

const log = { info: () => {}, warn: () => {}, error: () => {} };
const syncOf = (workspace: string, kind: 'http' | 'database') =>
  createWorkspaceSync({ workspace, compiler, registrar: registrars[kind], log });

async function importErrors(): Promise<string[]> {
  const answer = await server.call('/api/v2/importErrors', { token });
  const { import_errors: errors } = answer.json<{
    import_errors: { bundle_name: string; filename: string; stack_trace: string }[];
  }>();
  return errors.map((error) => `${error.bundle_name}/${error.filename}: ${error.stack_trace.split('\n')[0]}`);
}

async function dags(): Promise<object[]> {
  const answer = await server.call('/api/v2/dags?exclude_stale=false', { token });
  return answer.json<{ dags: object[] }>().dags;
}

describe.each(['http', 'database'] as const)('through the %s registrar', (kind) => {
  const trees = (version: string) => [
    { name: 'orchard-hooks', version, summary: 'Trees', documentation_url: 'javascript:alert(1)' },
  ];
  /** As the pool of compilers answers. A DAG with a warning takes the longer way into the database. */
  async function syncWith(workspace: string, found: { providers: object[] | undefined; warnings?: string[] }) {
    const { providers, warnings = [] } = found;
    const compile: Compiler['compile'] = async (file) => ({
      ...(await compiler.compile(file)),
      providers: providers as ReportedProvider[] | undefined,
      warnings,
    });
    const sync = createWorkspaceSync({
      workspace,
      compiler: { ...compiler, compile },
      registrar: registrars[kind],
      log,
    });
    return sync.syncAll();
  }

  it.each([[[]], [['a date that moves']]])(
    'lists the provider packages of an environment as soon as its file is compiled, with warnings %j',
    async (warnings) => {
      const root = workspaceOf({ 'plain.py': dagText('plain') });
      const standard = { package_name: 'apache-airflow-providers-standard' };
      for (const providers of [trees('1.0'), trees('1.0'), undefined]) {
        await syncWith(root, { providers, warnings });
        const listed = { package_name: 'orchard-hooks', version: '1.0', description: 'Trees', documentation_url: null };
        expect(await listedProviders()).toMatchObject([standard, listed]);
      }
      // Over HTTP tasks run elsewhere: the list of the same version is the workers' business by then.
      await syncWith(root, { providers: trees('2.0'), warnings });
      expect(await listedProviders()).toMatchObject([standard, { version: kind === 'database' ? '2.0' : '1.0' }]);
      writeFiles(root, { 'plain.py': dagText('plain', ['other']) });
      await syncWith(root, { providers: trees('3.0'), warnings });
      expect(await listedProviders()).toMatchObject([standard, { version: '3.0' }]);
      writeFiles(root, { 'plain.py': dagText('plain', ['another']) });
      await syncWith(root, { providers: undefined, warnings });
      expect(await listedProviders()).toMatchObject([standard]);
    },
  );

  it('refuses a list of provider packages that is none, and says what is wrong with it', async () => {
    const root = workspaceOf({ 'plain.py': dagText('plain') });
    const { failed } = await syncWith(root, { providers: [{ name: 'a', version: 7, summary: '' }] });
    // Over HTTP the schema of the route refuses it, and in the same process the registry does.
    expect(failed).toMatchObject([{ message: expect.stringMatching(/version.* must be (a text|string)/) }]);
  });

  it('registers projects and plain files once, and again only what changed', async () => {
    const root = workspaceOf({
      'etl/svc.yaml': 'owner: me',
      'etl/dag.py': dagText('etl'),
      'plain.py': dagText('plain'),
    });
    const sync = syncOf(root, kind);
    expect(await sync.syncAll()).toEqual({
      registered: [
        { dagId: 'etl', versionNumber: 1, isNew: true },
        { dagId: 'plain', versionNumber: 1, isNew: true },
      ],
      failed: [],
      stale: [],
    });
    expect(await dags()).toMatchObject([
      {
        dag_id: 'etl',
        owners: ['me'],
        bundle_name: 'etl',
        relative_fileloc: 'dag.py',
        fileloc: join(root, 'etl/dag.py'),
      },
      { dag_id: 'plain', bundle_name: 'dags-folder', relative_fileloc: 'plain.py' },
    ]);
    writeFiles(root, { 'etl/dag.py': dagText('etl', ['extract', 'more', 'load']) });
    const { registered } = await sync.syncAll();
    expect(registered).toEqual([
      { dagId: 'etl', versionNumber: 2, isNew: true },
      { dagId: 'plain', versionNumber: 1, isNew: false },
    ]);
  });

  it('reports what does not compile beside the version that runs, and clears it when it does', async () => {
    const root = workspaceOf({ 'etl/dag.py': dagText('etl'), 'other/dag.py': dagText('other') });
    const sync = syncOf(root, kind);
    await sync.syncAll();
    writeFiles(root, { 'etl/dag.py': 'from airflow import (' });
    const { registered, failed } = await sync.syncAll();
    expect(registered.map(({ dagId }) => dagId)).toEqual(['other']);
    expect(failed).toMatchObject([{ name: 'etl', message: expect.stringMatching(/^dag\.py:1: /) }]);
    expect(await importErrors()).toEqual([expect.stringMatching(/^etl\/dag\.py: dag\.py:1: /)]);
    expect(await dags()).toMatchObject([
      { dag_id: 'etl', has_import_errors: true, is_stale: false },
      { dag_id: 'other', has_import_errors: false },
    ]);
    writeFiles(root, { 'etl/dag.py': dagText('etl') });
    expect((await sync.syncAll()).failed).toEqual([]);
    expect(await importErrors()).toEqual([]);
  });

  it('clears an error when its file is gone, holds no DAG any more, or was filed under another name', async () => {
    const root = workspaceOf({
      'gone.py': '# airflow dag\n(',
      'helper.py': '# airflow dag\n(',
      'etl/svc.yaml': ': : :\n  broken',
      'etl/main.py': dagText('etl'),
    });
    const sync = syncOf(root, kind);
    await sync.syncAll();
    expect(await importErrors()).toHaveLength(3);
    rmSync(join(root, 'gone.py'));
    writeFiles(root, { 'helper.py': '# airflow dag', 'etl/svc.yaml': 'dag_source: main.py' });
    await sync.syncAll();
    expect(await importErrors()).toEqual([]);
  });

  it('reports two owners of one id, and gives it to neither', async () => {
    const root = workspaceOf({ 'a.py': dagText('same'), 'b.py': dagText('same') });
    expect((await syncOf(root, kind).syncAll()).registered).toEqual([]);
    expect(await importErrors()).toHaveLength(2);
    expect(await dags()).toEqual([]);
  });
});

describe('a repository', () => {
  const dag = `from airflow.sdk import DAG
from airflow.providers.standard.operators.bash import BashOperator
from helpers import COMMAND
with DAG("uses_helper", schedule=None):
    BashOperator(task_id="a", bash_command="true")
`;
  const numbers = async (): Promise<Record<string, number>> => {
    const rows = await server.db.shared.selectFrom('dag_versions').select(['dag_id', 'version_number']).execute();
    const found: Record<string, number> = {};
    for (const { dag_id: id, version_number: number } of rows) found[id] = Math.max(found[id] ?? 0, number);
    return found;
  };

  it('is read again where a helper or what is installed has changed: those that use it, and no others', async () => {
    const root = workspaceOf({
      'dags/uses_helper.py': dag,
      'dags/plain.py': dagText('plain'),
      'plugins/helpers.py': 'COMMAND = "one"',
    });
    const compiled: string[] = [];
    const asked: (readonly string[] | undefined)[] = [];
    const counting: Compiler = {
      ...compiler,
      compile: ({ dependencies, ...request }) => {
        compiled.push(relative(root, request.path));
        asked.push(dependencies);
        return compiler.compile(request);
      },
    };
    const warnings: string[] = [];
    const sync = createWorkspaceSync({
      workspace: root,
      compiler: counting,
      registrar: registrars.database,
      log: { ...log, warn: (message) => warnings.push(message) },
    });
    await sync.syncAll();
    expect(await numbers()).toEqual({ plain: 1, uses_helper: 1 });

    compiled.length = 0;
    writeFiles(root, { 'plugins/helpers.py': 'COMMAND = "two"' });
    await sync.syncFile(join(root, 'plugins/helpers.py'));
    expect(compiled).toEqual(['dags/uses_helper.py']);
    expect(await numbers()).toEqual({ plain: 1, uses_helper: 2 });

    writeFiles(root, { 'requirements.txt': 'some-package\n--pre\n' });
    await sync.syncFile(join(root, 'requirements.txt'));
    expect(await numbers()).toEqual({ plain: 2, uses_helper: 3 });
    expect(asked.at(-1)).toEqual(['some-package']);
    await sync.syncAll();
    await sync.syncAll();
    // Once, not with every file and not with every reading.
    expect(warnings).toEqual(['requirements.txt:2: --pre is not used']);
  });

  it('has the DAGs of a zip for as long as it has the zip', async () => {
    const zip = (text: string): Uint8Array => zipOf({ 'zipped.py': new TextEncoder().encode(text) });
    const root = workspaceOf({ 'dags/plain.py': dagText('plain') });
    const place = join(root, 'dags/some.zip');
    writeFileSync(place, zip(dagText('zipped')));
    const sync = syncOf(root, 'database');
    await sync.syncAll();
    expect(await dags()).toMatchObject([
      { dag_id: 'plain', relative_fileloc: 'dags/plain.py' },
      { dag_id: 'zipped', relative_fileloc: 'dags/some.zip/zipped.py', fileloc: join(place, 'zipped.py') },
    ]);
    writeFileSync(place, zip(dagText('zipped', ['other'])));
    await sync.syncFile(place);
    expect(await numbers()).toEqual({ plain: 1, zipped: 2 });
    // A broken one may be whole again in a moment.
    writeFileSync(place, 'no zip');
    expect(await sync.syncAll()).toMatchObject({ failed: [{ name: 'dags/some.zip' }], stale: [] });
    rmSync(place);
    expect((await sync.syncAll()).stale).toEqual(['zipped']);
  });
});

describe('DAGs that are gone', () => {
  it('become stale, also after a restart; those that fail, and those of others, do not', async () => {
    const root = workspaceOf({ 'keep.py': dagText('keep'), 'drop.py': dagText('drop'), 'break.py': dagText('break') });
    const elsewhere = workspaceOf({ 'foreign.py': dagText('foreign') });
    await syncOf(elsewhere, 'database').syncAll();
    await syncOf(root, 'database').syncAll();
    rmSync(join(root, 'drop.py'));
    writeFiles(root, { 'break.py': '# dag airflow\n(' });
    // A new one knows nothing of what the first has registered.
    const second = syncOf(root, 'database');
    expect((await second.syncAll()).stale).toEqual(['drop']);
    expect(await dags()).toMatchObject([
      { dag_id: 'break', is_stale: false },
      { dag_id: 'drop', is_stale: true },
      { dag_id: 'foreign', is_stale: false },
      { dag_id: 'keep', is_stale: false },
    ]);
    writeFiles(root, { 'drop.py': dagText('drop') });
    await second.syncAll();
    expect(await dags()).toMatchObject([{}, { dag_id: 'drop', is_stale: false }, {}, {}]);
  });

  it('are not those of a file that is read while an editor has emptied it, even if it is broken when it is saved', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'b.py': dagText('b') });
    await syncOf(root, 'database').syncAll();
    writeFiles(root, { 'a.py': '' });
    const saving: WorkspaceReader = {
      ...readHere,
      async units(path) {
        const units = await readHere.units(path);
        writeFiles(root, { 'a.py': '# dag airflow\n(' });
        return units;
      },
    };
    const registrar = registrars.database;
    const sync = createWorkspaceSync({ workspace: root, compiler, reader: saving, registrar, log });
    expect(await sync.syncAll()).toMatchObject({ stale: [], failed: [{ name: 'a.py' }] });
    expect(await dags()).toMatchObject([
      { dag_id: 'a', is_stale: false, has_import_errors: true },
      { dag_id: 'b', is_stale: false },
    ]);
  });

  it('are not guessed at when the control plane refused something', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'b.py': dagText('b') });
    await syncOf(root, 'database').syncAll();
    rmSync(join(root, 'b.py'));
    const registrar: Registrar = { ...registrars.database, register: () => Promise.reject(new Error('no disk')) };
    const summary = await createWorkspaceSync({ workspace: root, compiler, registrar, log }).syncAll();
    expect(summary).toEqual({ registered: [], failed: [{ name: 'a.py', message: 'no disk' }], stale: [] });
  });
});

describe('a file that goes while it is read', () => {
  /** Ends each compilation of these files when it is told to, and says when the first has begun. */
  function holding(file: string): { compiler: Compiler; begun: Promise<void>; release: () => void } {
    const begun = Promise.withResolvers<void>();
    const released = Promise.withResolvers<void>();
    const held: Compiler = {
      ...compiler,
      compile: async (request) => {
        if (!request.path.endsWith(file)) return compiler.compile(request);
        begun.resolve();
        await released.promise;
        return compiler.compile(request);
      },
    };
    return { compiler: held, begun: begun.promise, release: released.resolve };
  }

  it('takes its DAG with it, although the reading could not find the file', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'b.py': dagText('b') });
    await syncOf(root, 'database').syncAll();
    const { compiler: held, begun, release } = holding('a.py');
    const sync = createWorkspaceSync({ workspace: root, compiler: held, registrar: registrars.database, log });
    const during = sync.syncAll();
    await begun;
    rmSync(join(root, 'a.py'));
    release();
    await during;
    expect(await importErrors()).toHaveLength(1);
    expect((await sync.syncAll()).stale).toEqual(['a']);
    expect(await dags()).toMatchObject([
      { dag_id: 'a', is_stale: true },
      { dag_id: 'b', is_stale: false },
    ]);
    expect(await importErrors()).toEqual([]);
  });

  it('and was broken before takes its DAG with it', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'etl/dag.py': dagText('etl') });
    const sync = syncOf(root, 'database');
    await sync.syncAll();
    writeFiles(root, { 'a.py': '# dag airflow\n(', 'etl/dag.py': '# dag airflow\n(' });
    expect((await sync.syncAll()).stale).toEqual([]);
    rmSync(join(root, 'a.py'));
    rmSync(join(root, 'etl'), { recursive: true });
    expect((await sync.syncAll()).stale).toEqual(['a', 'etl']);
    expect(await importErrors()).toEqual([]);
  });

  it('is not registered by a reading that ends after it was found to be gone', async () => {
    const root = workspaceOf({ 'a.py': dagText('a') });
    const { compiler: held, begun, release } = holding('new.py');
    // It was read, and only then removed.
    const text = dagText('new');
    const read: Compiler = {
      ...held,
      compile: async (request) => {
        const answer = await held.compile(request);
        if (answer.ok || !request.path.endsWith('new.py')) return answer;
        return compiler.compile({ ...request, path: join(workspaceOf({ 'new.py': text }), 'new.py') });
      },
    };
    const sync = createWorkspaceSync({ workspace: root, compiler: read, registrar: registrars.database, log });
    await sync.syncAll();
    writeFiles(root, { 'new.py': text });
    const reading = sync.syncFile(join(root, 'new.py'));
    await begun;
    rmSync(join(root, 'new.py'));
    expect((await sync.syncAll()).registered.map(({ dagId }) => dagId)).toEqual(['a']);
    release();
    await reading;
    expect(await dags()).toMatchObject([{ dag_id: 'a' }]);
    expect(sync.outcomes().map(({ unit }) => unit.unit.name)).toEqual(['a.py']);
  });

  it('is told from one that came meanwhile, which stays', async () => {
    const root = workspaceOf({ 'a.py': dagText('a'), 'slow.py': dagText('slow') });
    await syncOf(root, 'database').syncAll();
    const { compiler: held, begun, release } = holding('slow.py');
    const sync = createWorkspaceSync({ workspace: root, compiler: held, registrar: registrars.database, log });
    const during = sync.syncAll();
    await begun;
    writeFiles(root, { 'new.py': dagText('new') });
    rmSync(join(root, 'a.py'));
    await sync.syncFile(join(root, 'new.py'));
    release();
    expect((await during).stale).not.toContain('new');
    expect(await dags()).toMatchObject([
      { dag_id: 'a', is_stale: true },
      { dag_id: 'new', is_stale: false },
      { dag_id: 'slow', is_stale: false },
    ]);
    expect(sync.outcomes().map(({ unit }) => unit.unit.name)).toEqual(['new.py', 'slow.py']);
  });
});

describe('several calls at once', () => {
  it('share one more run, which sees what changed meanwhile', async () => {
    const root = workspaceOf({ 'a.py': dagText('a') });
    const sync = syncOf(root, 'database');
    const first = sync.syncAll();
    writeFiles(root, { 'b.py': dagText('b') });
    const [second, third] = [sync.syncAll(), sync.syncAll()];
    await first;
    expect((await second).registered.map(({ dagId }) => dagId)).toEqual(['a', 'b']);
    expect(await third).toBe(await second);
    expect((await sync.syncAll()).registered).toHaveLength(2);
  });
});

describe('one file, for somebody who waits', () => {
  it('is compiled and registered with what it belongs to, and nothing else is', async () => {
    const root = workspaceOf({
      'etl/svc.yaml': 'owner: me',
      'etl/dag.py': dagText('etl'),
      'plain.py': dagText('plain'),
    });
    const compiled: string[] = [];
    const counting: Compiler = {
      ...compiler,
      compile: (request) => {
        compiled.push(relative(root, request.path));
        return compiler.compile(request);
      },
    };
    const sync = createWorkspaceSync({ workspace: root, compiler: counting, registrar: registrars.database, log });
    await sync.syncAll();
    compiled.length = 0;
    writeFiles(root, { 'etl/svc.yaml': 'owner: you', 'plain.py': dagText('plain', ['more']) });
    await sync.syncFile(join(root, 'etl/svc.yaml'));
    expect(compiled).toEqual(['etl/dag.py']);
    expect(await dags()).toMatchObject([{ dag_id: 'etl', owners: ['you'] }, { dag_id: 'plain' }]);
    compiled.length = 0;
    await sync.syncFile(join(root, 'plain.py'));
    expect(compiled).toEqual(['plain.py']);
    writeFiles(root, { 'new.py': dagText('new') });
    await sync.syncFile(join(root, 'new.py'));
    expect(await dags()).toMatchObject([{ dag_id: 'etl' }, { dag_id: 'new' }, { dag_id: 'plain' }]);
  });

  it('tells of an id that it claims from another, and gives it back', async () => {
    const root = workspaceOf({ 'a.py': dagText('same'), 'b.py': dagText('other') });
    const sync = syncOf(root, 'database');
    await sync.syncAll();
    writeFiles(root, { 'b.py': dagText('same') });
    await sync.syncFile(join(root, 'b.py'));
    expect(sync.outcomes().map(({ unit }) => unit.ok)).toEqual([false, false]);
    expect(await importErrors()).toHaveLength(2);
    writeFiles(root, { 'b.py': dagText('other') });
    await sync.syncFile(join(root, 'b.py'));
    expect(sync.outcomes().map(({ unit }) => unit.ok)).toEqual([true, true]);
    expect(await importErrors()).toEqual([]);
  });

  it('waits its turn: what was read first is not registered last', async () => {
    const root = workspaceOf({ 'a.py': dagText('a', ['one']) });
    const sync = syncOf(root, 'database');
    const first = sync.syncAll();
    writeFiles(root, { 'a.py': dagText('a', ['one', 'two']) });
    await Promise.all([first, sync.syncFile(join(root, 'a.py')), sync.syncAll()]);
    const { tasks } = (await server.call('/api/v2/dags/a/tasks', { token })).json<{ tasks: { task_id: string }[] }>();
    expect(tasks.map((task) => task.task_id)).toEqual(['one', 'two']);
  });
});

describe('a file that never ends', () => {
  const endless = (path: string): boolean => path.endsWith('endless.py');

  it('holds up no other: they are compiled, reported and registered while it runs, and it ends by its limit', async () => {
    const root = workspaceOf({
      'a.py': dagText('a'),
      'endless.py': `${dagText('endless')}\nwhile True: pass\n`,
      'etl/dag.py': dagText('etl'),
      'broken.py': '# dag airflow\n(',
    });
    // One at a time, or the others would have a place of their own anyway. Its limit begins when the test has seen enough.
    const single = createCompiler({ python: await pythonEnvironment(), jobs: 1 });
    const seenEnough = Promise.withResolvers<void>();
    const patient: Compiler = {
      ...single,
      compile: async (request) => {
        if (!endless(request.path)) return single.compile(request);
        await seenEnough.promise;
        return single.compile({ ...request, limits: { wall_seconds: 1 } });
      },
    };
    const sync = createWorkspaceSync({ workspace: root, compiler: patient, registrar: registrars.database, log });
    const all = sync.syncAll();
    await eventually(async () => {
      expect(await dags()).toMatchObject([{ dag_id: 'a' }, { dag_id: 'etl' }]);
      expect(await importErrors()).toEqual([expect.stringContaining('broken.py')]);
    });
    expect(sync.soFar()).toMatchObject({ pending: ['endless.py'], registered: [{ dagId: 'a' }, { dagId: 'etl' }] });
    // Somebody saves another file meanwhile, and waits for the answer.
    writeFiles(root, { 'a.py': dagText('a', ['one', 'two']) });
    await sync.syncFile(join(root, 'a.py'));
    expect(sync.soFar().registered).toContainEqual({ dagId: 'a', versionNumber: 2, isNew: true });
    seenEnough.resolve();
    expect((await all).failed.map(({ name }) => name).sort()).toEqual(['broken.py', 'endless.py']);
    expect(await importErrors()).toContainEqual(expect.stringMatching(/endless\.py.*not loaded within 1 seconds/));
    await single.close();
  });
});
