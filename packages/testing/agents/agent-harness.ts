/** The agent service with a database, two tenants and real compiled DAGs, but without a scheduler: tests are the scheduler. */
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { createCompiler } from '@svc/compiler/compiler.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { pythonEnvironment } from '../python-environment.ts';
import { createAgentService } from '@svc/server/agents/agent-service.ts';
import type { AgentService } from '@svc/server/agents/agent-service.ts';
import type { AgentServiceOptions } from '@svc/server/agents/service-options.ts';
import type { AgentLog, LogSink } from '@svc/server/agents/collaborators.ts';
import { createAgentCredentials } from '@svc/server/agents/credentials.ts';
import { ensureTenant } from '@svc/server/auth/tenants.ts';
import { registerVersion } from '@svc/server/registry/register-version.ts';
import { openDatabase } from '@svc/server/db/database.ts';
import { createDiskLogStore } from '@svc/server/logs/disk-store.ts';
import type { LogStore } from '@svc/server/logs/store.ts';
import type { Attempt } from '@svc/server/engine/shared/attempts.ts';
import { createStoredValues } from '@svc/server/xcom/stored/stored-values.ts';
import { onDisk } from '@svc/server/xcom/stored/value-files.ts';
import { createKeyring } from '@svc/server/vault/keyring.ts';
import { createRowAttempts } from '../engine/row-attempts.ts';
import { insertInstance, insertRun } from '../engine/run-rows.ts';
import { createTestDatabase } from '../postgres/test-database.ts';
import { freePort } from '../services/free-port.ts';

export type AgentHarness = Awaited<ReturnType<typeof startAgentHarness>>;

export type QueuedAttempt = Attempt & { runId: string };

const ACTOR = { name: 'test', clientIp: '127.0.0.1', requestId: 'test' };

export async function startAgentHarness(
  settings: Partial<AgentServiceOptions['settings']> = {},
  more: Partial<Pick<AgentServiceOptions, 'tls' | 'triggerRun' | 'readAssetEvents' | 'lease' | 'valueCache'>> = {},
  /** Between the service and what keeps the logs. */
  around: (store: LogStore) => LogSink = (store) => store,
) {
  const database = await createTestDatabase();
  const db = openDatabase({
    url: database.url,
    maxOpenConns: 8,
    maxIdleConns: 2,
    statementTimeoutMs: 30_000,
    idleInTransactionTimeoutMs: 30_000,
  });
  const folder = mkdtempSync(join(tmpdir(), 'svc-agents-'));
  // Not beside the DAGs: a folder that comes to lie where Python looks for modules makes a worker that keeps attempts apart leave.
  const logFolder = mkdtempSync(join(tmpdir(), 'svc-agent-logs-'));
  const python = await pythonEnvironment();
  const compiler = createCompiler({ python });
  const tenants = {
    a: (await ensureTenant(db.shared, 'default')).id,
    b: (await ensureTenant(db.shared, 'other')).id,
  };
  const attempts = createRowAttempts(db);
  const credentials = createAgentCredentials({
    secret: 'test-secret-test-secret-test-secret',
    maxAttemptLifetimeMs: 0,
  });
  const keyring = createKeyring({ current: Buffer.alloc(32, 7), previous: [] });
  const logs = createDiskLogStore({ dir: logFolder, prefix: '' });
  const storedValues = createStoredValues({ db, files: onDisk(join(logFolder, '.values')) });
  const logLines: { level: string; message: string; details: Record<string, unknown> }[] = [];
  const logAt = (level: keyof AgentLog) => (details: object, message: string) =>
    void logLines.push({ level, message, details: { ...details } });
  const log: AgentLog = {
    debug: logAt('debug'),
    info: logAt('info'),
    warn: logAt('warn'),
    error: logAt('error'),
  };
  const port = await freePort(); // it may be stopped, and started again where agents look for it
  let service: AgentService | undefined;

  /** Always on the same port: what agents know is the address. */
  async function startService(override: Partial<AgentServiceOptions['settings']> = {}): Promise<AgentService> {
    service = createAgentService({
      address: `127.0.0.1:${port}`,
      tls: null,
      db,
      keyring,
      attempts,
      credentials,
      logs: around(logs),
      storedValues,
      triggerRun: async () => ({ kind: 'no_such_dag' }),
      answerTimetable: async () => {},
      readAssetEvents: async () => [],
      log,
      ...more,
      settings: {
        scoping: 'permissive',
        livenessMode: 'observe',
        notesInLogs: false,
        xcomInlineMaxBytes: 65_536,
        xcomMaxBytes: 1_048_576,
        stateStore: { maxValueBytes: 1_048_576, maxKeys: 1_000, defaultRetentionMs: 86_400_000, clearOnSuccess: false },
        baseUrl: '',
        ...settings,
        ...override,
      },
    });
    await service.listen();
    return service;
  }

  return {
    db,
    folder,
    logFolder,
    python,
    tenants,
    attempts,
    credentials,
    keyring,
    log,
    logLines,
    logs,
    storedValues,
    startService,
    stopService: () => service?.close() ?? Promise.resolve(),
    address: () => `127.0.0.1:${port}`,

    /** Compiled and registered as the next version. */
    async addDag(tenantId: string, file: string, text: string, change?: (spec: CompiledSpec) => void): Promise<void> {
      const path = join(folder, file);
      writeFileSync(path, text);
      const answer = await compiler.compile({ path, dagsFolder: folder });
      if (!answer.ok) throw new Error(answer.error.message);
      for (const { dag_id: dagId, spec } of answer.dags) {
        change?.(spec);
        const artifact = { spec, fileloc: path };
        const done = await registerVersion(db.tenant(tenantId), { dagId, artifact, actor: ACTOR });
        if (done.kind === 'refused') throw new Error(done.problems.join('\n'));
      }
    },

    /** A run with one instance that was just claimed. */
    async queue(input: {
      tenantId?: string;
      dagId: string;
      taskId: string;
      run?: { key: number; runId: string };
      mapIndex?: number;
      maxTries?: number;
      versionNumber?: number;
    }): Promise<QueuedAttempt> {
      const { tenantId = tenants.a, dagId, taskId, mapIndex = -1, maxTries = 0, versionNumber = 1 } = input;
      const attemptId = randomUUID();
      const runId = input.run?.runId ?? `run/${attemptId.slice(0, 8)}`;
      const scoped = db.tenant(tenantId);
      const run = input.run?.key ?? (await insertRun(scoped, { dagId, runId, version_number: versionNumber }));
      const instance = {
        task_id: taskId,
        map_index: mapIndex,
        state: 'queued' as const,
        attempt_id: attemptId,
        max_tries: maxTries,
        version_number: versionNumber,
      };
      await insertInstance(scoped, { run, dagId, instance });
      const ref = { tenantId, run, taskId, mapIndex, attemptId };
      return { ...ref, dagId, runId, versionNumber, tryNumber: 1, queue: 'default', executor: null };
    },

    /** As somebody who marks it would: it ended so long ago. */
    async endInstance({ tenantId, run, taskId }: QueuedAttempt, { age }: { age: string }): Promise<void> {
      await db
        .tenant(tenantId)
        .updateTable('task_instances')
        .set({ state: 'failed', attempt_id: null, try_number: 1, end_date: sql<string>`now() - ${age}::interval` })
        .where('run', '=', run)
        .where('task_id', '=', taskId)
        .execute();
    },

    token: ({ runId: _runId, queue: _queue, ...identity }: QueuedAttempt) =>
      credentials.issueAttempt({ kind: 'task', ...identity }),

    /** The lines of the attempt's log, as they were stored. */
    async logOf({ tenantId, dagId, runId, taskId, mapIndex, tryNumber }: QueuedAttempt) {
      const parts: Buffer[] = [];
      const logKey = { tenantId, dagId, runId, taskId, mapIndex, tryNumber };
      for await (const part of logs.read(logKey)) parts.push(part);
      const lines = Buffer.concat(parts).toString('utf8').split('\n').filter(Boolean);
      return lines.map(
        (line) => JSON.parse(line) as { event: string; level: string; logger: string; timestamp: string },
      );
    },

    async close() {
      await service?.close();
      await compiler.close();
      await logs.close();
      await db.close();
      await database.drop();
      for (const each of [folder, logFolder]) rmSync(each, { recursive: true, force: true });
    },
  };
}
