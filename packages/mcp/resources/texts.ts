/** The resources log://task and dag://source: untrusted text, cleaned and limited. */
import { readBeginning } from '@svc/client/body.ts';
import type { ControlPlane } from '../control-plane/client.ts';
import { mapIndexQuery, tryIds } from '../control-plane/ids.ts';
import type { TryRef } from '../control-plane/ids.ts';
import { readLastLines } from '../control-plane/last-lines.ts';
import { orWhatThereIs } from '../control-plane/missing-try.ts';
import { MAX_LOG_LINES, MAX_SOURCE_BYTES, capBytes, capText } from '@svc/spec/text/caps.ts';
import { redactLines } from '@svc/spec/text/redact.ts';
import { sanitizeLines } from '@svc/spec/text/sanitize.ts';
import { safeLines } from '@svc/spec/text/safe-text.ts';

export type TextResource = { head: string; what: string; lines: string[] };

/** More is read than shown, because cleaning removes characters. */
const MAX_RAW_SOURCE_LENGTH = 4 * MAX_SOURCE_BYTES;

const LOG = '/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances/{task_id}/logs/{try_number}';

export async function logTail(controlPlane: ControlPlane, ref: TryRef): Promise<TextResource> {
  const call = { path: tryIds(ref), query: { tail_lines: MAX_LOG_LINES, ...mapIndexQuery(ref.mapIndex) } };
  const read = controlPlane.text(LOG, call, ({ texts }) => readLastLines(texts, MAX_LOG_LINES));
  const lines = await orWhatThereIs(controlPlane, ref, read);
  const instance = ref.mapIndex === undefined ? '' : `[${ref.mapIndex}]`;
  const which = `try ${ref.tryNumber} of ${ref.taskId}${instance} in run ${ref.runId} of ${ref.dagId}`;
  const head =
    lines.length === 0
      ? `The log of ${which} is empty.`
      : `The last ${lines.length} lines (at most ${MAX_LOG_LINES}) of the log of ${which}. search_logs finds earlier ones.`;
  return { head, what: 'log', lines: safeLines(lines) };
}

export async function dagSource(controlPlane: ControlPlane, dagId: string): Promise<TextResource> {
  const call = { path: { dag_id: dagId } };
  const raw = await controlPlane.text('/api/v2/dagSources/{dag_id}', call, ({ texts }) =>
    readBeginning(texts, MAX_RAW_SOURCE_LENGTH),
  );
  const clean = redactLines(sanitizeLines(raw.text), 'source')
    .map((line) => capText(line))
    .join('\n');
  const { text, isCut } = capBytes(clean, MAX_SOURCE_BYTES);
  const head =
    isCut || raw.isCut
      ? `The source of ${dagId}, its first ${MAX_SOURCE_BYTES / 1024} KiB; the rest is cut.`
      : `The source of ${dagId}.`;
  return { head, what: 'source', lines: text.replace(/\n$/, '').split('\n') };
}
