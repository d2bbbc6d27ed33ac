/** Reads what an agent says of an attempt's end. Whatever it sends, what comes out is well-formed and within its rights. */
import { isFailureCause, mayReport } from '@svc/spec/failure-causes.ts';
import type { AssetEventOutcome, AttemptOutcome, Failure } from '../engine/attempts.ts';
import { RpcError } from './rpc-errors.ts';

const STATES = ['success', 'failed', 'skipped', 'reschedule'] as const;
type State = (typeof STATES)[number];

const invalid = (message: string): RpcError => new RpcError('invalid', `outcome: ${message}`);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export function readOutcome(json: string, { maxXcomBytes }: { maxXcomBytes: number }): AttemptOutcome {
  const sent = parse(json);
  const state = sent['state'];
  if (typeof state !== 'string' || !(STATES as readonly string[]).includes(state)) {
    throw invalid(`state must be one of ${STATES.join(', ')}`);
  }
  const xcoms = readXcoms(sent['xcoms']);
  const tooLarge = xcoms.find(({ value }) => Buffer.byteLength(value) > maxXcomBytes);
  if (tooLarge) {
    const text = `the value for ${tooLarge.key} is larger than xcom.max_bytes (${maxXcomBytes})`;
    return { state: 'failed', failure: { cause: 'xcom_too_large', text }, ...seenByAgent(sent) };
  }
  return {
    state: state as State,
    ...(sent['retryable'] === false && { retryable: false }),
    ...(state === 'failed' && { failure: readFailure(sent['failure']) }),
    ...(state === 'reschedule' && { rescheduleAt: readDate('rescheduleAt', sent['rescheduleAt']) }),
    ...(xcoms.length > 0 && { xcoms }),
    ...readRest(sent),
    ...seenByAgent(sent),
  };
}

function readRest(sent: Record<string, unknown>): Partial<AttemptOutcome> {
  const { renderedFields: fields, renderedMapIndex: mapIndex } = sent;
  const skips = readTexts('skips', sent['skips']);
  const assetEvents = readAssetEvents(sent['assetEvents']);
  return {
    ...(skips.length > 0 && { skips }),
    ...(assetEvents.length > 0 && { assetEvents }),
    ...(isRecord(fields) && Object.keys(fields).length > 0 && { renderedFields: withoutNul(fields) }),
    ...(typeof mapIndex === 'string' && { renderedMapIndex: mapIndex.replaceAll('\0', '') }),
  };
}

const seenByAgent = ({ endedAt, pid }: Record<string, unknown>): { endedAt?: string; pid?: number } => ({
  ...(endedAt !== undefined && { endedAt: readDate('endedAt', endedAt) }),
  ...(typeof pid === 'number' && Number.isInteger(pid) && pid > 0 && pid < 2 ** 31 && { pid }),
});

/** An agent witnesses what happened on its machine. What only the control plane can know it may not claim. */
function readFailure(value: unknown): Failure {
  if (!isRecord(value)) return { cause: 'exception' };
  const { cause, text } = value;
  if (typeof cause !== 'string' || !isFailureCause(cause) || !mayReport('agent', cause)) {
    throw invalid(`an agent cannot report the cause ${JSON.stringify(cause)}`);
  }
  return { cause, ...(typeof text === 'string' && text !== '' && { text }) };
}

function readXcoms(value: unknown): { key: string; value: string }[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid('xcoms must be a list');
  return value.map((entry: unknown) => {
    const { key, value: json } = isRecord(entry) ? entry : {};
    if (typeof key !== 'string' || key === '' || key.includes('\0')) throw invalid('a value has no key');
    if (typeof json !== 'string' || !isJson(json)) throw invalid(`the value for ${key} is no JSON text`);
    return { key, value: json };
  });
}

function readAssetEvents(value: unknown): AssetEventOutcome[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value)) throw invalid('assetEvents must be a list');
  return value.map((event: unknown) => {
    const { asset, alias, extra } = isRecord(event) ? event : {};
    const { name, uri } = isRecord(asset) ? asset : {};
    const place = [name, uri].filter((part) => typeof part === 'string');
    if (place.length === 0) throw invalid('an asset event names no asset');
    return {
      asset: { name: String(name ?? uri), uri: String(uri ?? name) },
      alias: typeof alias === 'string' ? alias : null,
      ...(isRecord(extra) && { extra: withoutNul(extra) }),
    };
  });
}

function readTexts(name: string, value: unknown): string[] {
  if (value === undefined || value === null) return [];
  if (!Array.isArray(value) || !value.every((item) => typeof item === 'string')) {
    throw invalid(`${name} must be a list of texts`);
  }
  return value;
}

function readDate(name: string, value: unknown): string {
  if (typeof value !== 'string' || Number.isNaN(Date.parse(value))) throw invalid(`${name} must be a date`);
  return value;
}

function parse(json: string): Record<string, unknown> {
  try {
    const value = JSON.parse(json) as unknown;
    if (isRecord(value)) return value;
  } catch {
    // told below
  }
  throw invalid('it is no JSON object');
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Postgres has no place for U+0000 in jsonb. */
function withoutNul(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(value).includes('\\u0000') ? (clean(value) as Record<string, unknown>) : value;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '');
  if (Array.isArray(value)) return value.map(clean);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.replaceAll('\0', ''), clean(item)]));
}
