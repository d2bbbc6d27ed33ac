/**
 * Runs the broken DAGs on a control plane, and replays the try that a person would ask about: `svc replay` by a user
 * that may not read secrets. The run is also planned again by `svc replay --plan`. Of a DAG without a try, the command
 * has to say why there is none.
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startLiveServer } from '../cli/live-server.ts';
import type { LiveServer } from '../cli/live-server.ts';
import { runSvc } from '../cli/run-in-process.ts';
import { BROKEN_DAGS, POOL, sourceOf } from './broken-dags.ts';
import type { BrokenDag } from './broken-dags.ts';
import { beginBrokenDag, brokenDagIsThere } from './run-broken-dag.ts';
import type { Api } from './run-broken-dag.ts';

/**
 * How a try ended: the class of the exception and the author's line, which are null when it raised nothing. A
 * branch that succeeded has its choice.
 */
export type Raised = { state: string; error: string | null; line: string | null; choice?: unknown };

export type ReplayedDag = {
  name: string;
  there: Raised;
  here: Raised;
  /** Time of `svc replay`, in milliseconds. */
  ms: number;
  /** Task instances that end otherwise when the run is planned again. */
  differences: unknown[];
};

/** What `svc replay` says of a DAG without a try. */
export type WithoutTry = { name: string; stderr: string; ms: number };

const CHOICE_KEY = 'skipmixin_key';

type Instance = { task_id: string; map_index: number; try_number: number; state: string | null };
type Asked = { one: BrokenDag; runId: string; instance: Instance };

export async function replayBrokenDags(): Promise<{ replayed: ReplayedDag[]; without: WithoutTry[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-broken-dags-'));
  for (const { name } of BROKEN_DAGS) writeFileSync(join(folder, `${name}.py`), sourceOf(name));
  const live = await startLiveServer();
  try {
    return await replayAll(live, folder);
  } finally {
    await live.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function replayAll(
  live: LiveServer,
  folder: string,
): Promise<{ replayed: ReplayedDag[]; without: WithoutTry[] }> {
  const { stderr } = await live.svc('deploy', folder, '--all');
  if (!stderr.includes(`1 of ${BROKEN_DAGS.length} were not deployed`)) throw new Error(stderr);
  const api = apiOf(live);
  const dbt = { key: 'dbt', value: 'false' }; // a program that fails
  const variables = join(folder, 'variables.json');
  writeFileSync(variables, JSON.stringify({ [dbt.key]: dbt.value }));
  await api('POST', '/pools', POOL);
  await api('POST', '/variables', dbt);
  await live.server.addUser({ email: 'reader@example.com', roles: ['viewer'] });
  const env = { ...live.env, SVC_TOKEN: await live.server.login('reader@example.com') };

  const runs: (readonly [BrokenDag, string])[] = [];
  const replayed: ReplayedDag[] = [];
  const without: WithoutTry[] = [];
  for (const one of BROKEN_DAGS) {
    const runId = await beginBrokenDag(api, one);
    if (runId !== undefined) runs.push([one, runId]);
    else if (one.name === 'import_error') replayed.push(await loadedAgain(one, { env, folder }));
    else without.push(await askedInVain(one.name, [one.name], env));
  }
  for (const [one, runId] of runs) {
    await brokenDagIsThere(api, one, runId);
    const instance = await instanceToReplay(api, one, runId);
    if (!instance) {
      const waiting = Object.entries(one.reached ?? {}).find(([, state]) => state === 'scheduled')?.[0] ?? '';
      without.push(await askedInVain(one.name, [one.name, runId, waiting], env));
      continue;
    }
    const asked = { one, runId, instance };
    const there = await raisedThere(live, asked);
    const { ms, ...here } = await raisedHere(asked, { env, variables });
    replayed.push({ name: one.name, there, here, ms, differences: await differencesOf(asked, env) });
  }
  return { replayed, without };
}

type Loaded = Record<'recorded' | 'replayed', { error: string; line: string }>;

async function loadedAgain(
  { name }: BrokenDag,
  { env, folder }: { env: Record<string, string>; folder: string },
): Promise<ReplayedDag> {
  const begun = performance.now();
  const { stdout } = await runSvc(['replay', name, '--path', folder, '--json'], { env });
  const ms = performance.now() - begun;
  const { recorded, replayed } = JSON.parse(stdout) as Loaded;
  const raised = ({ error, line }: Loaded['recorded']): Raised => ({
    state: 'failed',
    error: error.split(':', 1)[0] ?? null,
    line,
  });
  return { name, there: raised(recorded), here: raised(replayed), ms, differences: [] };
}

async function askedInVain(name: string, argv: readonly string[], env: Record<string, string>): Promise<WithoutTry> {
  const begun = performance.now();
  const { stderr } = await runSvc(['replay', ...argv], { env });
  return { name, stderr, ms: performance.now() - begun };
}

const apiOf =
  (live: LiveServer): Api =>
  async <T>(method: string, path: string, body?: object) => {
    const { status, text } = await live.server.call(`/api/v2${path}`, {
      method,
      token: live.env['SVC_TOKEN'] ?? '',
      ...(body !== undefined && { body }),
    });
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };

/** The first instance that failed or waits for its next try, or else the one that decided how the run ended. */
async function instanceToReplay(
  api: Api,
  { name, decidedBy }: BrokenDag,
  runId: string,
): Promise<Instance | undefined> {
  const path = `/dags/${name}/dagRuns/${encodeURIComponent(runId)}/taskInstances`;
  const { task_instances: instances } = await api<{ task_instances: Instance[] }>('GET', path);
  return (
    instances.find(({ state }) => state === 'failed' || state === 'up_for_retry') ??
    instances.find(({ task_id: id }) => id === decidedBy)
  );
}

/** From the log of the try. */
async function raisedThere(live: LiveServer, { one: { name }, runId, instance }: Asked): Promise<Raised> {
  if (instance.state === 'success') return endedThere(live, { name, runId, taskId: instance.task_id });
  const { task_id: task, map_index: index, try_number: number } = instance;
  const path = `/api/v2/dags/${name}/dagRuns/${encodeURIComponent(runId)}/taskInstances/${task}/logs/${number}`;
  const { text } = await live.server.call(`${path}?map_index=${index}`, { token: live.env['SVC_TOKEN'] ?? '' });
  const line = [...text.matchAll(new RegExp(`/${name}\\.py"?(?:, line |:)(\\d+)`, 'g'))].at(-1)?.[1];
  const error = [...text.matchAll(/(?:^|\s)[\w.]*?([A-Z]\w*(?:Error|Exception|Timeout|Failed))(?::|$)/gm)].at(-1)?.[1];
  return { state: 'failed', error: error ?? null, line: line === undefined ? null : `${name}.py:${line}` };
}

async function endedThere(
  live: LiveServer,
  { name, runId, taskId }: { name: string; runId: string; taskId: string },
): Promise<Raised> {
  const run = `/api/v2/dags/${name}/dagRuns/${encodeURIComponent(runId)}`;
  const path = `${run}/taskInstances/${taskId}/xcomEntries/${CHOICE_KEY}`;
  const answer = await live.server.call(path, { token: live.env['SVC_TOKEN'] ?? '' });
  return { state: 'success', error: null, line: null, choice: answer.json<{ value: unknown }>().value };
}

type Shown = { tasks: { state: string; error: string | null; line: string | null; xcoms: Record<string, unknown> }[] };

async function raisedHere(
  { one: { name }, runId, instance }: Asked,
  { env, variables }: { env: Record<string, string>; variables: string },
): Promise<Raised & { ms: number }> {
  const { task_id: task, map_index: index } = instance;
  const which = index < 0 ? [] : ['--map-index', String(index)];
  const begun = performance.now();
  const argv = ['replay', name, runId, task, ...which, '--variables', variables, '--json'];
  const { stdout, stderr } = await runSvc(argv, { env });
  const ms = performance.now() - begun;
  if (stdout === '') throw new Error(`${name} was not replayed: ${stderr}`);
  const [shown] = (JSON.parse(stdout) as Shown).tasks;
  return {
    ms,
    state: shown?.state ?? 'none',
    error: shown?.error?.split(':', 1)[0]?.split('.').at(-1) ?? null,
    line: shown?.line?.split('/').at(-1) ?? null,
    ...(shown?.state === 'success' && { choice: shown.xcoms[CHOICE_KEY] }),
  };
}

async function differencesOf({ one, runId }: Asked, env: Record<string, string>): Promise<unknown[]> {
  const { code, stdout, stderr } = await runSvc(['replay', one.name, runId, '--plan', '--json'], { env });
  if (code !== 0) throw new Error(`${one.name} was not planned again: ${stderr}`);
  return (JSON.parse(stdout) as { differences: unknown[] }).differences;
}
