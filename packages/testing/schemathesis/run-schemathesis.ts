/**
 * Schemathesis against a running control plane: every operation of its own API document, in all phases, with all checks.
 * What it finds and is meant to be so is listed in explained.py, with the reason; everything else is a finding.
 */
import { spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { endsWithThisProcess } from '../ends-with-this-process.ts';
import { schemathesisEnvironment } from './environment.ts';

const HOOKS = join(import.meta.dirname, 'hooks.py');
/** How often a parameter is one of the ids that exist: the rest asks for what does not. */
const KNOWN_ID_PROBABILITY = 0.7;

export type Ids = Readonly<Record<string, readonly (string | number)[]>>;

export type SchemathesisRun = {
  url: string;
  token: string;
  seed: number;
  /** Of the fuzzing phase, per operation. */
  maxExamples: number;
  /** Sequences of calls. */
  statefulExamples: number;
  /** What exists, by name of a path or query parameter. */
  ids: Ids;
  /** What exists and may be deleted. */
  expendableIds: Ids;
  /** Users that must keep their password, roles and account, or the rest of the run would be refused. */
  protectedUserIds: readonly string[];
};

export type SchemathesisOutcome = { passed: boolean; output: string };

export async function runSchemathesis(run: SchemathesisRun): Promise<SchemathesisOutcome> {
  const python = await schemathesisEnvironment();
  const folder = await mkdtemp(join(tmpdir(), 'svc-schemathesis-'));
  try {
    const config = join(folder, 'schemathesis.toml');
    await writeFile(config, configText(run));
    const args = ['-m', 'schemathesis.cli', '--config-file', config, 'run', `${run.url}/openapi.json`];
    const child = spawn(python, args, {
      cwd: folder, // it keeps what it found in its working directory
      env: {
        PATH: process.env['PATH'],
        PYTHONDONTWRITEBYTECODE: '1',
        PYTHONHASHSEED: '0',
        COLUMNS: '200',
        // Straight to the server, whatever the machine has for the outside.
        NO_PROXY: '*',
        SCHEMATHESIS_HOOKS: HOOKS,
        SVC_TOKEN: run.token,
        SVC_PROTECTED_USERS: run.protectedUserIds.join(','),
        SVC_ENDED_RUN: String(run.ids['dag_run_id']?.[0] ?? ''),
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.once('exit', endsWithThisProcess({ pids: child.pid === undefined ? [] : [child.pid] }));
    let output = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (said: string) => (output += said));
    }
    const code = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { passed: code === 0, output };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function configText({ seed, maxExamples, statefulExamples, ids, expendableIds }: SchemathesisRun): string {
  return [
    `seed = ${seed}`,
    'color = false',
    'max-redirects = 0',
    'request-timeout = 20.0',
    'continue-on-failure = true',
    'workers = 1',
    'suppress-health-check = ["all"]',
    `parameters = ${chosenFrom('kept', ids)}`,
    '[generation]',
    `max-examples = ${maxExamples}`,
    'database = "none"',
    'no-shrink = true',
    '[phases.stateful]',
    'max-steps = 6',
    '[phases.stateful.generation]',
    `max-examples = ${statefulExamples}`,
    '[auth.openapi.bearer]',
    'bearer = "${SVC_TOKEN}"',
    ...dictionaries('kept', ids),
    ...dictionaries('expendable', expendableIds),
    // What one operation deletes, others could not be tried with.
    '[[operations]]',
    'include-method = "DELETE"',
    `parameters = ${chosenFrom('expendable', expendableIds)}`,
    // Answered until the try is over.
    '[[operations]]',
    'include-operation-id = "get_log"',
    'parameters = { follow = false }',
    '',
  ].join('\n');
}

/** TOML writes texts, numbers and lists as JSON does. */
const text = (value: unknown): string => JSON.stringify(value);

const dictionaries = (kind: string, ids: Ids): string[] =>
  Object.entries(ids).flatMap(([name, values]) => [`[dictionaries.${kind}-${name}]`, `values = ${text(values)}`]);

function chosenFrom(kind: string, ids: Ids): string {
  const bindings = Object.keys(ids).map(
    (name) => `${name} = { dictionary = "${kind}-${name}", probability = ${KNOWN_ID_PROBABILITY} }`,
  );
  return `{ ${bindings.join(', ')} }`;
}
