/** `svc replay` of runs of a bundle takes all files from the commit of the run, and opens a debugger in them. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DagRun } from '@svc/client/wire-types.ts';
import { startLiveServer } from '@svc/testing/cli/live-server.ts';
import type { LiveServer } from '@svc/testing/cli/live-server.ts';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { workspaceOf } from '@svc/testing/compiler/workspace.ts';
import { eventually } from '@svc/testing/eventually.ts';
import { createGitRepository } from '@svc/testing/server/git-repository.ts';
import type { GitRepository } from '@svc/testing/server/git-repository.ts';
import { afterAll, beforeAll, expect, it } from 'vitest';

const DAG = `import os
from airflow.sdk import dag, task
from airflow.providers.standard.operators.bash import BashOperator
from shared.rates import rate

HERE = os.path.dirname(__file__)

@dag(schedule=None)
def rates():
    @task
    def work():
        from shared.later import note
        with open(os.path.join(HERE, "..", "include", "data.txt")) as file:
            data = file.read()
        factor = rate()
        raise ValueError(f"{factor} {note()} {data}")

    work() >> BashOperator(task_id="query", bash_command="run.sh", trigger_rule="all_done")

rates()
`;
/** All files that a run reads, of one commit. */
const commit = (word: string): Record<string, string> => ({
  'dags/rates.py': DAG,
  'dags/run.sh': `echo query of ${word}`,
  'dags/shared/__init__.py': '',
  'dags/shared/rates.py': `def rate():\n    return "rate of ${word}"\n`,
  'dags/shared/later.py': `def note():\n    return "note of ${word}"\n`,
  'include/data.txt': `data of ${word}`,
  'plugins/.keep': '',
});
/** A sync, and a replay, start several processes. */
const SLOW_START = { withinMs: 200_000 };
const SVC = fileURLToPath(new URL('../../../bin/svc', import.meta.url));
const IN_A_TERMINAL = 'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))';

let cache: string;
let repository: GitRepository;
let live: LiveServer;
let env: Record<string, string>;
let elsewhere: string;

beforeAll(async () => {
  cache = mkdtempSync(join(tmpdir(), 'svc-replay-commit-'));
  elsewhere = join(cache, 'elsewhere');
  mkdirSync(elsewhere);
  repository = createGitRepository();
  live = await startLiveServer({ 'bundles.allowed_paths': tmpdir() });
  env = { ...live.env, XDG_CACHE_HOME: cache };
  repository.push(commit('one'));
  await api('POST', '/bundles', { name: 'etl', kind: 'git', url: repository.url, poll_seconds: 0 });
  await sync();
  await live.svc('dags', 'unpause', 'rates');
  await ended('r1');
  repository.push(commit('two'));
  await sync();
  await ended('r2');
});
afterAll(async () => {
  await live?.close();
  repository?.[Symbol.dispose]();
  rmSync(cache, { recursive: true, force: true });
});

async function api<T>(method: string, path: string, body?: object): Promise<T> {
  const token = env['SVC_TOKEN'] ?? '';
  const answer = await live.server.call(`/api/v2${path}`, { method, token, ...(body && { body }) });
  if (answer.status >= 300) throw new Error(`${method} ${path}: ${answer.text}`);
  return answer.json<T & Record<string, unknown>>();
}

async function sync(): Promise<void> {
  await api('POST', '/bundles/etl/sync');
  type Bundle = { sync: { state: string; text: string; requested: number; answered: number } };
  await eventually(async () => {
    const { sync: found } = await api<Bundle>('GET', '/bundles/etl');
    return found.answered >= found.requested && found.state === 'done';
  }, SLOW_START);
}

async function ended(runId: string): Promise<void> {
  await live.jsonOf('runs', 'trigger', 'rates', '--run-id', runId);
  const shown = () => live.jsonOf<DagRun>('runs', 'show', 'rates', runId);
  await live.until(shown, ({ state }) => state === 'success' || state === 'failed');
}

const replay = (...argv: string[]) => runSvc(['replay', 'rates', ...argv, '--path', elsewhere], { env });

it('a try runs with the modules, data files and templates of its commit, also when a later commit has others', async () => {
  for (const [runId, word] of [
    ['r1', 'one'],
    ['r2', 'two'],
  ] as const) {
    const work = await replay(runId, 'work');
    expect(`${work.stdout}${work.stderr}`).toContain(`rate of ${word} note of ${word} data of ${word}`);
    expect(work.stdout).toContain('dags/rates.py:16)');
    expect(work.stderr).not.toContain('warning');
  }
  expect((await replay('r1', 'query')).stderr).toContain('query of one');
  const trees = join(cache, 'svc', 'code', 'trees');
  expect(readdirSync(trees)).toHaveLength(2);
  for (const tree of readdirSync(trees)) {
    const file = join(trees, tree, 'dags/shared/rates.py');
    expect(statSync(file).mode & 0o222).toBe(0);
    expect(existsSync(join(trees, tree, 'dags/shared/__pycache__'))).toBe(false);
  }
});

it('--edit runs the modules of the working copy', async () => {
  const root = workspaceOf(commit('three'));
  const { stdout, stderr } = await runSvc(['replay', 'rates', 'r1', 'work', '--edit', '--path', join(root, 'dags')], {
    env,
  });
  expect(`${stdout}${stderr}`).toContain('rate of three note of three data of three');
});

it('a person who may not change DAGs is told to bring the modules', async () => {
  await live.server.addUser({ email: 'viewer@example.com', roles: ['viewer'] });
  const theirs = { ...env, SVC_TOKEN: await live.server.login('viewer@example.com') };
  const told = await runSvc(['replay', 'rates', 'r1', 'work', '--path', elsewhere], { env: theirs });
  expect(told.stderr).toContain('modules come from the working copy, because the files of the commit cannot be read');
  expect(told.stderr).toContain('write:dag');
  expect(told).toMatchObject({ code: 1, stdout: '' });
  expect(told.stderr).toContain('has other contents of modules than the version: dags/shared/__init__.py');
});

it('the API gives only files of the version of the run', async () => {
  const path = '/dags/rates/dagRuns/r1/files';
  const { tree, manifest } = await api<{ tree: string; manifest: string }>('GET', `${path}?version_number=1`);
  expect(tree).toMatch(/^[0-9a-f]{64}\//);
  const { file = '' } = (JSON.parse(manifest) as { path: string; file?: string }[])[0] ?? {};
  const parts = (name: string) => api<{ parts: string[] }>('POST', `${path}/parts?version_number=1`, { parts: [name] });
  expect((await parts(`${file} 0`)).parts).toHaveLength(1);
  await expect(parts(`${'0'.repeat(64)} 0`)).rejects.toThrow('the version has no file');
  await expect(parts(`${file} 9`)).rejects.toThrow('not stored any more');
  await expect(parts('../secret')).rejects.toThrow('invalid_request');
  expect(await api('GET', `${path}?version_number=9`)).toEqual({ tree: null, manifest: null });
});

it('--debug opens pdb in a terminal at the line of the author, with the variables of the try', async () => {
  const argv = [SVC, 'replay', 'rates', 'r1', 'work', '--debug', '--path', elsewhere];
  const child = spawn(env['SVC_PYTHON'] ?? '', ['-c', IN_A_TERMINAL, ...argv], {
    env: { ...env, TERM: 'dumb', HOME: process.env['HOME'] ?? '' },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let screen = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (screen += text));
  const prompts = async (count: number): Promise<void> => {
    await eventually(() => screen.split('(Pdb) ').length > count, SLOW_START);
  };
  const closed = once(child, 'close');
  try {
    await prompts(1);
    expect(screen).toMatch(/> .*dags\/rates\.py\(16\)work\(\)\r?\n-> raise ValueError\(/);
    child.stdin.write('p factor.upper()\n');
    await prompts(2);
    expect(screen).toContain("'RATE OF ONE'");
    child.stdin.write('q\n');
    expect(await closed).toEqual([1, null]);
  } finally {
    child.kill();
  }
});
