/** Why there is nothing to replay: the DAG has no run, or its file does not load. */
import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import type { DagDetails, DagRun, ImportError } from '@svc/client/wire-types.ts';
import { compilePath } from '../projects/compile-path.ts';
import { CliError, EXIT } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { findRun } from '../runs/find-run.ts';

type Named = { dagId: string; runId: string | undefined; path: string; json: boolean };

/** The exception of a DAG file, and its line. */
type LoadFailure = { error: string; line: string | null };

/** Returns the named run, or the newest. Throws the reason why there is none. */
export async function runToReplay(context: CliContext, client: Client, named: Named): Promise<DagRun> {
  try {
    return await findRun(client, named.dagId, named.runId);
  } catch (error) {
    if (!(error instanceof CliError) || error.exitCode !== EXIT.notFound || named.runId !== undefined) throw error;
    const dag = await dagOf(client, named.dagId);
    if (dag) throw neverRun(dag, error);
    const isOfDag = ({ filename, bundle_name: bundle }: ImportError): boolean =>
      basename(filename, '.py') === named.dagId || bundle === named.dagId;
    const file = (await importErrors(client)).find(isOfDag);
    if (!file) throw error;
    throw await loadAgain(context, file, named);
  }
}

async function dagOf(client: Client, dagId: string): Promise<DagDetails | undefined> {
  try {
    return await client.get('/api/v2/dags/{dag_id}/details', { path: { dag_id: dagId } });
  } catch (error) {
    if (error instanceof CliError && error.exitCode === EXIT.notFound) return undefined;
    throw error;
  }
}

function neverRun(dag: DagDetails, missing: CliError): CliError {
  const { dag_id: id, timetable_summary: schedule, timetable_description: meaning, next_dagrun_run_after: next } = dag;
  if (schedule === null || dag.is_paused || dag.asset_expression !== null) return missing;
  const text = `its schedule is ${JSON.stringify(schedule)}${meaning === null ? '' : ` (${meaning})`}`;
  const when = next === null ? 'which names no moment to come' : `whose next run starts after ${next}`;
  return new CliError(`DAG ${id} has never run, so there is no try: ${text}, ${when}`, {
    exitCode: EXIT.notFound,
    hint: next === null ? 'correct the schedule, or trigger a run' : `start one now: svc runs trigger ${id}`,
  });
}

const importErrors = (client: Client): Promise<ImportError[]> =>
  client.list('/api/v2/importErrors', 'import_errors', { query: { limit: 1_000 } });

/** Loads the file of the working copy, and compares what it raises with what the control plane has kept. */
async function loadAgain(context: CliContext, file: ImportError, { dagId, path, json }: Named): Promise<CliError> {
  const there = failureOfTrace(file);
  const here = await failureHere(context, file.filename, path);
  const isSame = here !== null && here !== 'missing' && here.error === there.error && here.line === there.line;
  if (json) {
    const found = here === 'missing' ? null : here;
    printJson(context, { dag_id: dagId, file: file.filename, recorded: there, replayed: found, is_same: isSame });
  }
  const copy =
    here === 'missing'
      ? 'The working copy has no such file'
      : here === null
        ? 'The file of the working copy loads'
        : isSame
          ? 'The file of the working copy fails in the same way'
          : `The file of the working copy fails otherwise: ${shown(here)}`;
  return new CliError(
    `${file.filename} does not load on the control plane, so there is no DAG ${dagId}: ${shown(there)}. ${copy}`,
    { hint: here === null ? 'deploy it' : 'repair the file, check it with svc check, then deploy it' },
  );
}

const shown = ({ error, line }: LoadFailure): string => (line === null ? error : `${error} (${line})`);

async function failureHere(
  context: CliContext,
  filename: string,
  path: string,
): Promise<LoadFailure | null | 'missing'> {
  const named = resolve(path);
  const places = [named, dirname(named), dirname(dirname(named))].map((folder) => join(folder, filename));
  const place = places.find((one) => existsSync(one));
  if (place === undefined) return 'missing';
  for (const unit of await compilePath(context, place, {})) {
    const [problem] = unit.ok ? [] : unit.problems;
    if (problem) return { error: problem.message, line: `${basename(problem.file)}:${problem.line ?? 0}` };
  }
  return null;
}

/** The control plane keeps the text that `svc check` prints: `file:line: message`, or a traceback. */
function failureOfTrace({ filename, stack_trace: trace }: ImportError): LoadFailure {
  const name = basename(filename);
  const lines = trace.trimEnd().split('\n');
  const found = [...trace.matchAll(/([^\s/]+):(\d+)(?::\d+)?: (?:error: )?(.*)/g)].find(([, file]) => file === name);
  const [, , line, message] = found ?? [];
  return { error: message ?? lines.at(-1) ?? '', line: line === undefined ? null : `${name}:${line}` };
}
