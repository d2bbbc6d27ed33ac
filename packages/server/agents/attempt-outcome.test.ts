import { describe, expect, it } from 'vitest';
import { readOutcome } from './attempt-outcome.ts';

const read = (outcome: unknown) => readOutcome(JSON.stringify(outcome), { maxXcomBytes: 10 });

const AWAITS = {
  dagId: 'other',
  runIds: ['r'],
  logicalDates: null,
  taskIds: null,
  taskGroupId: null,
  allowed: ['success'],
  skipped: [],
  failed: [],
  echo: null,
};
const deferredFor = (more: object) => ({
  state: 'deferred',
  deferral: {
    classPath: 'm.T',
    kwargs: '{}',
    nextMethod: 'n',
    nextKwargs: '{}',
    timeoutSeconds: null,
    awaits: { ...AWAITS, ...more },
  },
});

describe('the outcome of an attempt', () => {
  it.each([
    [[], 'it is no JSON object'],
    [{}, 'state must be one of success, failed, skipped, reschedule'],
    [{ state: 'running' }, 'state must be one of success, failed, skipped, reschedule'],
    [{ state: 'success', xcoms: 1 }, 'xcoms must be a list'],
    [{ state: 'success', xcoms: [{ value: '1' }] }, 'a value has no key'],
    [{ state: 'success', xcoms: [{ key: '', value: '1' }] }, 'a value has no key'],
    [{ state: 'success', xcoms: [{ key: 'a\0', value: '1' }] }, String.raw`"a\u0000" cannot be the key of a value`],
    [{ state: 'success', xcoms: [{ key: '..', value: '1' }] }, '".." cannot be the key of a value'],
    [
      { state: 'success', assetEvents: [{ asset: { uri: 's3://a' }, extra: { text: 'a\0b' } }] },
      'an asset event: extra.text must not contain U+0000 or half of a surrogate pair',
    ],
    [
      { state: 'success', assetEvents: [{ asset: { uri: 's3://a' }, extra: { n: JSON.rawJSON('1e999') } }] },
      'an asset event: extra.n: 1e999 is beyond',
    ],
    [{ state: 'success', xcoms: [{ key: 'k' }] }, 'the value for k is no JSON text'],
    [{ state: 'success', xcoms: [{ key: 'k', value: '{' }] }, 'the value for k is no JSON text'],
    [{ state: 'success', endedAt: null }, 'endedAt must be a date'],
    [{ state: 'success', skips: [1] }, 'skips must be a list of texts'],
    [{ state: 'success', assetEvents: {} }, 'assetEvents must be a list'],
    [{ state: 'success', assetEvents: [{ asset: { name: 1 } }] }, 'an asset event names no asset'],
    [deferredFor({ allowed: 'success' }), 'a deferral must name its trigger'],
    [deferredFor({ dagId: 'a\0' }), 'a deferral must name its trigger'],
    [deferredFor({ runIds: Array.from({ length: 1_001 }, () => 'r') }), 'a deferral must name its trigger'],
    [deferredFor({ echo: '{' }), 'the arguments of a trigger must be JSON texts'],
    [deferredFor({ runIds: [] }), 'a trigger that awaits runs must name them'],
    [deferredFor({ runIds: null, logicalDates: ['2026-01-01T00:00:00'] }), 'a trigger that awaits runs must name them'],
    [{ state: 'reschedule' }, 'rescheduleAt must be a date'],
    [{ state: 'failed', failure: { cause: 'agent_lost' } }, 'an agent cannot report the cause "agent_lost"'],
  ])('that is malformed, %j, is refused, and the message names what is wrong', async (outcome, problem) => {
    await expect(read(outcome)).rejects.toThrow(`outcome: ${problem}`);
  });

  it('keeps what is well-formed and drops what is optional and is not', async () => {
    const outcome = {
      state: 'success',
      xcoms: [{ key: 'k', value: '1', extra: true }],
      skips: null,
      assetEvents: [{ asset: { uri: 's3://a' }, extra: { text: 'ab' } }],
      renderedFields: [],
      renderedMapIndex: 7,
      retryable: 'no',
      retryDelay: 'soon',
      pid: -1,
    };
    expect(await read(outcome)).toEqual({
      state: 'success',
      xcoms: [{ key: 'k', value: '1' }],
      assetEvents: [{ asset: { name: 's3://a', uri: 's3://a' }, alias: null, extra: { text: 'ab' } }],
    });
  });

  it.each([
    [{ state: 'failed', calledCallbacks: true }, { calledCallbacks: true }],
    [{ state: 'failed', calledCallbacks: 'yes' }, {}],
    [{ state: 'success', calledCallbacks: true }, {}],
  ])('believes that callbacks were called only of a failure that says so plainly: %j', async (sent, expected) => {
    const { calledCallbacks } = await read(sent);
    expect(calledCallbacks === undefined ? {} : { calledCallbacks }).toEqual(expected);
  });

  it.each([
    [{ state: 'failed', retryDelay: 9.5 }, 9.5],
    [{ state: 'failed', retryDelay: 1e300 }, 100 * 366 * 86_400],
    [{ state: 'failed', retryDelay: -1 }, undefined],
    [{ state: 'success', retryDelay: 9 }, undefined],
  ])(
    'takes the delay that a retry policy has decided from a failure alone, within a century: %j',
    async (sent, delay) => {
      expect((await read(sent)).retryDelaySeconds).toBe(delay);
    },
  );

  it('names the runs that a deferred task waits for, their dates as they are stored', async () => {
    const { deferral } = await read(deferredFor({ runIds: null, logicalDates: ['2026-01-01T01:00:00+01:00'] }));
    expect(deferral?.awaits).toEqual({ ...AWAITS, runIds: null, logicalDates: ['2026-01-01T00:00:00.000000Z'] });
  });

  it('keeps the digits of what a task says of an asset, and of its rendered fields', async () => {
    const text = '{"n":[9007199254740993,1.0,-0.0,1e5]}';
    const { assetEvents, renderedFields } = await readOutcome(
      `{"state":"success","assetEvents":[{"asset":{"uri":"s3://a"},"extra":${text}}],"renderedFields":${text}}`,
      { maxXcomBytes: 10 },
    );
    expect(JSON.stringify(assetEvents?.[0]?.extra)).toBe(text);
    expect(JSON.stringify(renderedFields)).toBe(text);
  });

  it('with a value that is too large is a failure, whatever else it reports', async () => {
    const outcome = { state: 'success', xcoms: [{ key: 'big', value: '"123456789"' }], skips: [1], pid: 7 };
    const text = 'the value for big is larger than xcom.max_bytes (10)';
    expect(await read(outcome)).toEqual({ state: 'failed', failure: { cause: 'xcom_too_large', text }, pid: 7 });
  });
});
