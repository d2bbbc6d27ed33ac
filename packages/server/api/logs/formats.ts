/**
 * The three formats of a log, each built from lines as they arrive. None keeps more than one block of lines in memory.
 */
import type { Line } from '../../logs/lines.ts';
import { readRecord, textLines } from '../../logs/records.ts';
import type { LogRecord } from '../../logs/records.ts';
import type { LogSearch } from '../../logs/search.ts';

export const LOG_FORMATS = ['text/plain', 'application/x-ndjson', 'application/json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

type Batches = AsyncIterable<readonly Line[]>;

/** Text for people. `last` keeps only that many lines; a record may have several. */
export async function* asText(batches: Batches, last?: number): AsyncGenerator<string> {
  let kept: string[] = [];
  for await (const lines of batches) {
    const texts = lines.flatMap((line) => {
      const read = readRecord(line);
      return read ? textLines(read.record) : [];
    });
    if (last !== undefined) kept = [...kept, ...texts].slice(-last);
    else if (texts.length > 0) yield `${texts.join('\n')}\n`;
  }
  if (kept.length > 0) yield `${kept.join('\n')}\n`;
}

/** One record per line, as the web UI reads it. */
export async function* asNdjson(batches: Batches): AsyncGenerator<string> {
  for await (const lines of batches) {
    const records = recordsOf(lines);
    if (records.length > 0) yield `${records.join('\n')}\n`;
  }
}

/** Airflow's `{"content": […], "continuation_token": …}`, complete for any length. */
export async function* asJson(batches: Batches, continuationToken: string | null): AsyncGenerator<string> {
  let separator = '{"content":[';
  for await (const lines of batches) {
    const records = recordsOf(lines);
    if (records.length === 0) continue;
    yield `${separator}${records.join(',')}`;
    separator = ',';
  }
  const start = separator === ',' ? '' : separator;
  yield `${start}],"continuation_token":${JSON.stringify(continuationToken)}}`;
}

const recordsOf = (lines: readonly Line[]): string[] =>
  lines.flatMap((line) => {
    const read = readRecord(line);
    return read ? [read.json] : [];
  });

/** Formats matches of a search: like `grep -n` as text, otherwise as records of one matching line each. */
export function searchBody({ matches, isComplete }: LogSearch, format: LogFormat): string {
  if (format === 'text/plain') return matches.map(({ lineNumber, line }) => `${lineNumber}:${line}\n`).join('');
  const records = matches.map(({ lineNumber, message, record }) => ({
    timestamp: record.timestamp ?? null,
    ...(record.level !== undefined && { level: record.level }),
    ...(record.logger !== undefined && { logger: record.logger }),
    event: message,
    line_number: lineNumber,
  }));
  if (format === 'application/x-ndjson') return records.map((record) => `${JSON.stringify(record)}\n`).join('');
  return JSON.stringify({ content: records, continuation_token: null, search_complete: isComplete });
}

/** Replaces the log of a task that never ran. The web UI requests its try 0. */
export function placeholder(state: string | null): string {
  const reasons: Record<string, string> = {
    skipped: 'Task was skipped — no logs available.',
    upstream_failed: 'Task did not run because upstream task(s) failed.',
  };
  const events = [
    '::group::Log message source details',
    '::endgroup::',
    reasons[state ?? ''] ?? 'No logs available for this task.',
  ];
  return events.map((event) => `${JSON.stringify({ timestamp: null, event } satisfies LogRecord)}\n`).join('');
}
