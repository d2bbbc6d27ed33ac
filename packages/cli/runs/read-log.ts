/** A log on its way to standard output, and what is written to it later. */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { stripVTControlCharacters } from 'node:util';
import type { WriteStream } from 'node:tty';
import type { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { printable } from '../output/text.ts';
import { instancesPath } from './fields.ts';
import type { Instance, Run } from './fields.ts';
import { createPatience } from './patience.ts';
import { openAnswer, textOf } from './raw-call.ts';

export type LogRequest = {
  readonly run: Pick<Run, 'dag_id' | 'dag_run_id'>;
  readonly instance: Pick<Instance, 'task_id' | 'map_index'>;
  readonly tryNumber: number;
  readonly tail?: number | undefined;
  readonly search?: string | undefined;
  /** Records instead of text. */
  readonly isNdjson?: boolean;
};

const READ_EVERY_MS = 500;
/** Until there is nothing more to come from this attempt, the server says where to go on. */
const NEXT_HEADER = 'airflow-continuation-token';

function pathOf({ run, instance, tryNumber, tail, search }: LogRequest, token: string | undefined): string {
  const query = new URLSearchParams({ map_index: String(instance.map_index) });
  if (token !== undefined) query.set('token', token);
  else if (tail !== undefined) query.set('tail_lines', String(tail));
  else if (search !== undefined) query.set('search', search);
  const task = `${instancesPath({ dagId: run.dag_id, runId: run.dag_run_id })}/${encodeURIComponent(instance.task_id)}`;
  return `${task}/logs/${tryNumber}?${query.toString()}`;
}

/** Writes what there is, and resolves with the place where more will be; undefined when the attempt is over. */
export async function copyLog(
  client: Client,
  request: LogRequest,
  output: WriteStream,
  token?: string,
): Promise<string | undefined> {
  const accept = request.isNdjson ? 'application/x-ndjson' : 'text/plain';
  const response = await openAnswer(client, { path: pathOf(request, token), accept });
  for await (const text of wholeLines(textOf(client, response))) {
    if (!output.write(output.isTTY ? forTerminal(text) : text)) await once(output, 'drain');
  }
  return response.headers.get(NEXT_HEADER) ?? undefined;
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
  const patience = createPatience();
  while (token !== undefined) {
    await sleep(READ_EVERY_MS, undefined, { signal }).catch(() => {});
    signal.throwIfAborted();
    try {
      token = await copyLog(await clientOf(), request, output, token);
      patience.answered();
    } catch (error) {
      onOutage(patience.orThrow(error));
    }
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
