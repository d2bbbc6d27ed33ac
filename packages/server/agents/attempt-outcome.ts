/** Reads an agent's report of an attempt's end. The result is always well-formed and within the agent's rights. */
import { Type } from 'typebox';
import type { Static, TSchema } from 'typebox';
import { momentOf } from '@svc/spec/clock.ts';
import { approximated, isRawNumber, parseExact } from '@svc/spec/exact-json.ts';
import { FAILURE_CAUSES, isFailureCause, mayReport } from '@svc/spec/failure-causes.ts';
import { isFolderName } from '@svc/spec/ids.ts';
import { parseJsonInTurns } from '@svc/spec/json-in-turns.ts';
import { isStorableText, storeProblem } from '@svc/spec/storable.ts';
import { compileWhenUsed } from '../compile-when-used.ts';
import type { AssetEventOutcome, AttemptOutcome, Awaits, Deferral, Failure } from '../engine/shared/attempts.ts';
import type { ProcessUsage } from '../engine/shared/usage.ts';
import { RpcError } from './rpc-errors.ts';
import { valueFault } from './value-fault.ts';

const STATES = ['success', 'failed', 'skipped', 'reschedule', 'deferred'] as const;
const MAX_NAME = 1_000;
/** As the API has it. */
const MAX_PARTITION_KEY = 250;
/** The same limit as for own partition mappers. */
const MAX_PARTITIONS = 1_000;
/** A hundred years. */
const MAX_SECONDS = 100 * 366 * 86_400;
/** An agent reports what happened on its machine. It may not claim causes that only the control plane can know. */
const CAUSES = Object.keys(FAILURE_CAUSES)
  .filter(isFailureCause)
  .filter((cause) => mayReport('agent', cause));

const UUID = '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$';

const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text));
const isXcomKey = (text: string): boolean => text !== '' && isStorableText(text) && !isFolderName(text);

const DateText = Type.Refine(Type.String(), isDate);
/** The number of items over which a task may be expanded. */
const Length = Type.Union([Type.Null(), Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 })]);
const Xcom = Type.Object({
  key: Type.Refine(Type.String(), isXcomKey), // `minLength` would count graphemes
  value: Type.String(),
  length: Type.Optional(Length),
  stored: Type.Optional(Type.Object({ id: Type.String({ pattern: UUID }), length: Length })),
});
/** At least one of the two is a text. */
const Asset = Type.Refine(
  Type.Object({ name: Type.Optional(Type.Unknown()), uri: Type.Optional(Type.Unknown()) }),
  ({ name, uri }) => typeof name === 'string' || typeof uri === 'string',
);
const AssetEvent = Type.Object({
  asset: Asset,
  alias: Type.Optional(Type.Unknown()),
  extra: Type.Optional(Type.Unknown()),
  partition_keys: Type.Optional(
    Type.Array(
      Type.Refine(Type.String(), (key) => key.trim() !== '' && key.length <= MAX_PARTITION_KEY && isStorableText(key)),
      { maxItems: MAX_PARTITIONS },
    ),
  ),
});

/** An invalid field here refuses the report. `Unknown` fields are checked separately and ignored if invalid. */
const Report = Type.Object({
  state: Type.Enum(STATES),
  xcoms: Type.Optional(Type.Array(Xcom)),
  endedAt: Type.Optional(DateText),
  retryable: Type.Optional(Type.Unknown()),
  retryDelay: Type.Optional(Type.Unknown()),
  failure: Type.Optional(Type.Unknown()),
  calledCallbacks: Type.Optional(Type.Unknown()),
  rescheduleAt: Type.Optional(Type.Unknown()),
  deferral: Type.Optional(Type.Unknown()),
  renderedFields: Type.Optional(Type.Unknown()),
  renderedMapIndex: Type.Optional(Type.Unknown()),
  pid: Type.Optional(Type.Unknown()),
  usage: Type.Optional(Type.Unknown()),
});
type Report = Static<typeof Report>;
/** Fields that count only when the values can be stored. */
const Effects = Type.Object({
  skips: Type.Optional(Type.Array(Type.String())),
  assetEvents: Type.Optional(Type.Array(AssetEvent)),
});

const report = compileWhenUsed(Report);
const effects = compileWhenUsed(Effects);
const failureReport = compileWhenUsed(Type.Object({ cause: Type.Enum(CAUSES), text: Type.Optional(Type.Unknown()) }));
const processId = compileWhenUsed(Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1 }));

const Amount = Type.Number({ minimum: 0, maximum: 1e18 });
const processUsage = compileWhenUsed(
  Type.Object({
    cpu: Amount,
    run: Amount,
    memory: Amount,
    read: Type.Optional(Amount),
    written: Type.Optional(Amount),
  }),
);

const invalid = (message: string): RpcError => new RpcError('invalid', `outcome: ${message}`);

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) && !isRawNumber(value);

/** Works in turns: an outcome may have megabytes, and each value in it is JSON that must be read separately. */
export async function readOutcome(json: string, { maxXcomBytes }: { maxXcomBytes: number }): Promise<AttemptOutcome> {
  const sent = await parse(json);
  if (!report.Check(sent)) throw invalid(problemWith(sent, report.Errors(sent)[0]?.instancePath));
  const { state, xcoms } = sent;
  const tooLarge = xcoms?.find(({ value }) => Buffer.byteLength(value) > maxXcomBytes);
  if (tooLarge) {
    const text = `the value for ${tooLarge.key} is larger than xcom.max_bytes (${maxXcomBytes})`;
    return { state: 'failed', failure: { cause: 'xcom_too_large', text }, ...seenByAgent(sent) };
  }
  for (const { key, value } of xcoms ?? []) {
    if (!(await isJson(value))) throw invalid(`the value for ${key} is no JSON text`);
    const fault = await valueFault(value, `the value for ${key}`);
    // The task created the value, so the task fails, as with a value that is too large.
    if (fault !== undefined)
      return { state: 'failed', failure: { cause: 'exception', text: fault }, ...seenByAgent(sent) };
  }
  return {
    state,
    ...(sent.retryable === false && { retryable: false }),
    ...(state === 'failed' && retryDelayOf(sent.retryDelay)),
    ...(state === 'failed' && { failure: failureOf(sent.failure) }),
    ...(state === 'failed' && sent.calledCallbacks === true && { calledCallbacks: true }),
    ...(state === 'deferred' && { deferral: await deferralOf(sent.deferral) }),
    ...(state === 'reschedule' && { rescheduleAt: rescheduleAtOf(sent.rescheduleAt) }),
    ...(xcoms &&
      xcoms.length > 0 && {
        xcoms: xcoms.map(({ key, value, length, stored }) => ({
          key,
          value,
          ...(length !== undefined && { length }),
          ...(stored && { stored }),
        })),
      }),
    ...effectsOf(sent),
    ...seenByAgent(sent),
  };
}

/** Describes the first error of either report; `path` is its place. */
function problemWith(sent: Record<string, unknown>, path = ''): string {
  const [, field, index] = path.split('/');
  switch (field) {
    case 'xcoms': {
      if (index === undefined) return 'xcoms must be a list';
      const entry = (sent['xcoms'] as unknown[])[Number(index)];
      const key = isRecord(entry) ? entry['key'] : undefined;
      if (typeof key !== 'string' || key === '') return 'a value has no key';
      if (isRecord(entry) && entry['stored'] !== undefined)
        return `the stored value for ${key} is not named as it should`;
      return isXcomKey(key)
        ? `the value for ${key} is no JSON text`
        : `${JSON.stringify(key.slice(0, 100))} cannot be the key of a value`;
    }
    case 'endedAt':
      return 'endedAt must be a date';
    case 'skips':
      return 'skips must be a list of texts';
    case 'assetEvents':
      if (index === undefined) return 'assetEvents must be a list';
      return path.includes('/partition_keys')
        ? `partition_keys of an asset event has at most ${MAX_PARTITIONS} texts of 1 to ${MAX_PARTITION_KEY} characters`
        : 'an asset event names no asset';
    default:
      return `state must be one of ${STATES.join(', ')}`;
  }
}

/** A delay that is no number counts as none. A longer one than a century would leave the range of dates. */
function retryDelayOf(sent: unknown): { retryDelaySeconds?: number } {
  const seconds = approximated(sent);
  if (typeof seconds !== 'number' || !(seconds >= 0)) return {};
  return { retryDelaySeconds: Math.min(seconds, MAX_SECONDS) };
}

const seenByAgent = ({ endedAt, pid, usage }: Report): Pick<AttemptOutcome, 'endedAt' | 'pid' | 'usage'> => ({
  ...(endedAt !== undefined && { endedAt }),
  ...(processId.Check(pid) && { pid }),
  ...usageOf(usage),
});

/** Usage that cannot be true counts as none, because the end of a task matters more. */
function usageOf(sent: unknown): { usage?: ProcessUsage } {
  if (!isRecord(sent)) return {};
  const { cpu, run, memory, read, written } = Object.fromEntries(
    Object.entries(sent).map(([name, value]) => [name, approximated(value)]),
  );
  const used = { cpu, run, memory, ...(read !== undefined && { read }), ...(written !== undefined && { written }) };
  return processUsage.Check(used) ? { usage: used } : {};
}

function failureOf(failure: unknown): Failure {
  if (!isRecord(failure)) return { cause: 'exception' };
  if (!failureReport.Check(failure)) {
    throw invalid(`an agent cannot report the cause ${JSON.stringify(failure['cause'])}`);
  }
  const { cause, text } = failure;
  return { cause, ...(typeof text === 'string' && text !== '' && { text }) };
}

const Names = Type.Array(
  Type.Refine(Type.String(), (text) => text.length <= MAX_NAME && isStorableText(text)),
  { maxItems: 1_000 },
);
const OrNull = <T extends TSchema>(schema: T) => Type.Union([Type.Null(), schema]);

const AwaitsReport = Type.Object({
  dagId: Type.Refine(Type.String(), (text) => text !== '' && text.length <= MAX_NAME && isStorableText(text)),
  runIds: OrNull(Names),
  logicalDates: OrNull(Type.Array(DateText, { maxItems: 1_000 })),
  taskIds: OrNull(Names),
  taskGroupId: OrNull(Type.Refine(Type.String(), (text) => text.length <= MAX_NAME && isStorableText(text))),
  allowed: Names,
  skipped: Names,
  failed: Names,
  /** JSON that is passed on without being read. */
  echo: OrNull(Type.String()),
});

const deferralReport = compileWhenUsed(
  Type.Object({
    classPath: Type.Refine(Type.String(), (text) => text !== '' && text.length <= MAX_NAME && isStorableText(text)),
    kwargs: Type.String(),
    nextMethod: Type.Refine(Type.String(), (text) => text !== '' && text.length <= MAX_NAME && isStorableText(text)),
    nextKwargs: Type.String(),
    timeoutSeconds: Type.Union([Type.Null(), Type.Number({ minimum: -MAX_SECONDS, maximum: MAX_SECONDS })]),
    firesAt: Type.Optional(Type.Union([Type.Null(), DateText])),
    event: Type.Optional(Type.Union([Type.Null(), Type.String()])),
    awaits: Type.Optional(Type.Union([Type.Null(), AwaitsReport])),
  }),
);

async function deferralOf(sent: unknown): Promise<Deferral> {
  const plain = isRecord(sent) ? { ...sent, timeoutSeconds: approximated(sent['timeoutSeconds']) } : sent;
  if (!deferralReport.Check(plain))
    throw invalid('a deferral must name its trigger, its arguments and the method to go on with');
  const { classPath, kwargs, nextMethod, nextKwargs, timeoutSeconds, firesAt = null, event = null } = plain;
  const { awaits = null } = plain;
  for (const text of [kwargs, nextKwargs, event, awaits?.echo ?? null].filter((one) => one !== null)) {
    if (!(await isJson(text)) || !isStorableText(text)) throw invalid('the arguments of a trigger must be JSON texts');
  }
  const moment = firesAt === null ? null : (momentOf(firesAt) ?? null);
  return {
    classPath,
    kwargs,
    nextMethod,
    nextKwargs,
    timeoutSeconds,
    firesAt: moment,
    event,
    awaits: awaits && awaitsOf(awaits),
  };
}

function awaitsOf(awaits: Static<typeof AwaitsReport>): Awaits {
  const dates = (awaits.logicalDates ?? []).flatMap((date) => momentOf(date) ?? []);
  const isWhole = dates.length === (awaits.logicalDates ?? []).length;
  if (!isWhole || (awaits.runIds ?? dates).length === 0)
    throw invalid('a trigger that awaits runs must name them, by id or by logical date with its offset');
  return { ...awaits, logicalDates: awaits.logicalDates && dates };
}

function rescheduleAtOf(moment: unknown): string {
  if (typeof moment !== 'string' || !isDate(moment)) throw invalid('rescheduleAt must be a date');
  return moment;
}

function effectsOf(sent: Report): Partial<AttemptOutcome> {
  if (!effects.Check(sent)) throw invalid(problemWith(sent, effects.Errors(sent)[0]?.instancePath));
  const { skips, assetEvents, renderedFields, renderedMapIndex } = sent;
  return {
    ...(skips && skips.length > 0 && { skips }),
    ...(assetEvents && assetEvents.length > 0 && { assetEvents: assetEvents.map(assetEventOf) }),
    ...(isRecord(renderedFields) &&
      Object.keys(renderedFields).length > 0 && { renderedFields: withoutNul(renderedFields) }),
    ...(typeof renderedMapIndex === 'string' && { renderedMapIndex: renderedMapIndex.replaceAll('\0', '') }),
  };
}

const assetEventOf = ({
  asset: { name, uri },
  alias,
  extra,
  partition_keys: keys = [],
}: Static<typeof AssetEvent>): AssetEventOutcome => ({
  asset: { name: String(name ?? uri), uri: String(uri ?? name) },
  alias: typeof alias === 'string' ? alias : null,
  ...(isRecord(extra) && { extra: storable(extra) }),
  ...(keys.length > 0 && { partitionKeys: [...new Set(keys)] }),
});

function storable(extra: Record<string, unknown>): Record<string, unknown> {
  const problem = storeProblem(extra, { name: 'extra' });
  if (problem !== undefined) throw invalid(`an asset event: ${problem}`);
  return extra;
}

/** A list that is null counts as absent. */
const LISTS = ['xcoms', 'skips', 'assetEvents'] as const;

async function parse(json: string): Promise<Record<string, unknown>> {
  try {
    const value = await parseJsonInTurns(json, { parse: parseExact });
    if (isRecord(value)) {
      for (const name of LISTS) if (value[name] === null) delete value[name];
      return value;
    }
  } catch {
    // refused below
  }
  throw invalid('it is no JSON object');
}

async function isJson(text: string): Promise<boolean> {
  try {
    await parseJsonInTurns(text);
    return true;
  } catch {
    return false;
  }
}

/** For values that are only displayed. Postgres cannot store U+0000. */
function withoutNul(value: Record<string, unknown>): Record<string, unknown> {
  return JSON.stringify(value).includes('\\u0000') ? (clean(value) as Record<string, unknown>) : value;
}

function clean(value: unknown): unknown {
  if (typeof value === 'string') return value.replaceAll('\0', '');
  if (Array.isArray(value)) return value.map(clean);
  if (!isRecord(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key.replaceAll('\0', ''), clean(item)]));
}
