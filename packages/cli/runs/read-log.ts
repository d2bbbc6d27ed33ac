/** Copies a log to standard output, and follows it. */
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
  /** Requests records instead of text. */
  readonly isNdjson?: boolean;
};

const READ_EVERY_MS = 500;
/** While more lines may come from the attempt, the server sends this header, which says where to continue. */
const NEXT_HEADER = 'airflow-continuation-token';

const LOG = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}';

/** `token` is the end of the previous answer. Everything after it is wanted, so no selection applies. */
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

/**
 * Writes the available lines and resolves with the place to continue from. Undefined means that the attempt has ended.
 */
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
 * Sends a new request from the end of the previous answer, instead of keeping one answer open. A restart of the control
 * plane then only costs a pause, and no line is repeated or lost.
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

/** Yields whole lines, because an escape sequence that the network splits would not be removed. */
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

/** Makes the output of a task safe to print: it must not control the terminal. */
export const forTerminal = (text: string): string =>
  text
    .split('\n')
    .map((line) => printable(stripVTControlCharacters(line.replace(/\r$/, ''))))
    .join('\n');
