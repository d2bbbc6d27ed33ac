/** A log on its way to standard output, and what is written to it later. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WriteStream } from 'node:tty';
import { stripVTControlCharacters } from 'node:util';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import type { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printable } from '../output/text.ts';
import { throughOutages } from './through-outages.ts';

export type LogRequest = {
  readonly run: Pick<DagRun, 'dag_id' | 'dag_run_id'>;
  readonly instance: Pick<TaskInstance, 'task_id' | 'map_index'>;
  readonly tryNumber: number;
  readonly tail?: number | undefined;
  readonly search?: string | undefined;
  /** Records instead of text. */
  readonly isNdjson?: boolean;
};

const READ_EVERY_MS = 500;
/** Until there is nothing more to come from this attempt, the server says where to go on. */
const NEXT_HEADER = 'airflow-continuation-token';

const LOG = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}';

/** `token` is the place where the last answer ended; from there on there is nothing to select. */
function callOf({ run, instance, tryNumber, tail, search }: LogRequest, token: string | undefined) {
  const selection = token !== undefined ? { token } : tail !== undefined ? { tail_lines: tail } : { search };
  return {
    path: {
      dag_id: run.dag_id,
      dag_run_id: run.dag_run_id,
      task_id: instance.task_id,
      try_number: tryNumber,
    },
    query: { map_index: instance.map_index, ...selection },
  };
}

/** Writes what there is, and resolves with the place where more will be; undefined when the attempt is over. */
export async function copyLog(
  client: Client,
  request: LogRequest,
  output: WriteStream,
  token?: string,
): Promise<string | undefined> {
  const accept = request.isNdjson ? 'application/x-ndjson' : 'text/plain';
  const { headers, texts } = await client.open(LOG, { ...callOf(request, token), accept });
  for await (const text of wholeLines(texts)) {
    if (!output.write(output.isTTY ? forTerminal(text) : text)) await once(output, 'drain');
  }
  return headers.get(NEXT_HEADER) ?? undefined;
}

/**
 * Asks again from where the last answer ended, rather than to hold one answer open: a control plane that is restarted then
 * costs a pause, and neither a line twice nor one that is missing.
 */
export async function followLog(input: {
  clientOf: () => Promise<Client>;
  request: LogRequest;
  output: WriteStream;
  onOutage: (error: CliError) => void;
  signal: AbortSignal;
}): Promise<void> {
  const { clientOf, request, output, onOutage, signal } = input;
  let token = await copyLog(await clientOf(), request, output);
  while (token !== undefined) {
    await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => {});
    const from = token;
    token = await throughOutages(async () => copyLog(await clientOf(), request, output, from), {
      pauseMs: () => READ_EVERY_MS,
      onOutage,
      signal,
    });
  }
}

/** A sequence that is cut in two by the network would slip through where sequences are removed. */
async function* wholeLines(texts: AsyncIterable<string>): AsyncGenerator<string> {
  let rest = '';
  for await (const text of texts) {
    const at = text.lastIndexOf('\n') + 1;
    if (at === 0) {
      rest += text;
      continue;
    }
    yield rest + text.slice(0, at);
    rest = text.slice(at);
  }
  if (rest !== '') yield rest;
}

/** What a task prints may be read on a terminal, but not drive it. */
export const forTerminal = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(stripVTControlCharacters(line.replace(/\r$/, ''))))
    .join('\n');
