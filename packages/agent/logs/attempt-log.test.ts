import { status } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import { createAttemptLog } from './attempt-log.ts';
import { Refusal } from '../contact/control-plane.ts';
import { createMasks } from './masks.ts';

/** A control plane's log: appended by offset, like the real one; `lose` forgets the first bytes of it. */
function fakeControlPlane(refuse = false) {
  let stored = Buffer.alloc(0);
  let calls = 0;
  const append = async (request: { offset: number; data: Buffer }) => {
    calls += 1;
    if (refuse) throw new Refusal(status.ABORTED, 'the run has been deleted');
    if (request.offset <= stored.length) {
      stored = Buffer.concat([stored, request.data.subarray(stored.length - request.offset)]);
    }
    return { length: stored.length };
  };
  return {
    append,
    text: () => stored.toString('utf8'),
    calls: () => calls,
    lose: () => (stored = Buffer.alloc(0)),
  };
}

const logTo = ({ append }: Pick<ReturnType<typeof fakeControlPlane>, 'append'>, masks = createMasks()) =>
  createAttemptLog({ append, masks, signal: new AbortController().signal, onRoom: () => {} });

const events = (text: string): string[] =>
  text
    .split('\n')
    .filter(Boolean)
    .map((line) => (JSON.parse(line) as { event: string }).event);

describe('the log of an attempt', () => {
  it('of a few lines is not sent on its own: it goes with the outcome', async () => {
    const plane = fakeControlPlane();
    const log = logTo(plane);
    log.note('before the start');
    log.begin(100);
    log.write([{ event: 'one' }, { event: 'two' }]);
    const { offset, data } = await log.tail();
    expect(offset).toBe(100);
    expect(events(data.toString('utf8'))).toEqual(['before the start', 'one', 'two']);
    expect(plane.calls()).toBe(0);
    log.close();
  });

  it('that is long is sent before the outcome, whole', async () => {
    const plane = fakeControlPlane();
    const log = logTo(plane);
    log.begin(0);
    const lines = Array.from({ length: 3_000 }, (_, index) => `${index} ${'x'.repeat(1_000)}`);
    for (const event of lines) log.write([{ event }]);
    const { offset, data } = await log.tail();
    expect(offset).toBe(Buffer.byteLength(plane.text()));
    expect(events(plane.text() + data.toString('utf8'))).toEqual(lines);
    log.close();
  });

  it('goes on where the control plane’s own ends, when that has lost what it had', async () => {
    const plane = fakeControlPlane();
    const log = logTo(plane);
    log.begin(0);
    log.write([{ event: 'one' }]);
    await log.flush();
    plane.lose();
    log.write([{ event: 'two' }]);
    await log.flush();
    expect(events(plane.text())).toEqual(['two']);
    log.close();
  });

  it('that nobody wants any more holds up neither the outcome nor the task', async () => {
    const log = logTo(fakeControlPlane(true));
    log.begin(0);
    for (let line = 0; line < 1_000; line += 1) log.write([{ event: 'x'.repeat(1_000) }]);
    await log.flush();
    expect((await log.tail()).data).toHaveLength(0);
    expect(log.isFull()).toBe(false);
    log.close();
  });

  it('takes bytes apart into lines: characters cut in two, no line end, very long lines, secrets', async () => {
    const masks = createMasks();
    masks.add(['hunter22']);
    const plane = fakeControlPlane();
    const log = logTo(plane, masks);
    log.begin(0);
    const bytes = Buffer.from(`ü1\r\nthe password is hunter22\n${'y'.repeat(200_000)}\nrest`);
    for (let at = 0; at < bytes.length; at += 1_001) log.output('stdout', bytes.subarray(at, at + 1_001));
    log.output('stderr', Buffer.from([0xc3]));
    log.output('stderr', Buffer.from([0xbc, 10]));
    log.outputEnded('stdout');
    const { data } = await log.tail();
    const found = events(plane.text() + data.toString('utf8'));
    expect(found.filter((event) => !event.startsWith('y'))).toEqual(['ü1', 'the password is ***', 'ü', 'rest']);
    expect(found.filter((event) => event.startsWith('y')).join('')).toBe('y'.repeat(200_000));
    log.close();
  });

  it('hides a secret in a line without end, wherever the line is cut', async () => {
    const masks = createMasks();
    masks.add(['correct horse battery staple']);
    const plane = fakeControlPlane();
    const log = logTo(plane, masks);
    log.begin(0);
    // Prime to the size of the pieces: the secret stands at every place relative to the cuts.
    const text = 'correct horse battery staple, and on. '.repeat(30_011);
    for (let at = 0; at < text.length; at += 4_093) log.output('stdout', Buffer.from(text.slice(at, at + 4_093)));
    log.outputEnded('stdout');
    const { data } = await log.tail();
    const found = events(plane.text() + data.toString('utf8'));
    expect(found.length).toBeGreaterThan(5);
    expect(found.join('')).toBe('***, and on. '.repeat(30_011));
    log.close();
  });

  it('never goes back in time, whatever the clock of the task says, and has microseconds in every line', async () => {
    const plane = fakeControlPlane();
    const log = logTo(plane);
    log.begin(0);
    const at = (timestamp: unknown) => ({ timestamp, event: String(timestamp) });
    log.write([at('2026-01-01T00:00:00.000002Z'), at('2026-01-01T00:00:00.000001Z')]);
    log.write([at('2026-01-01T02:00:00.5+02:00'), at('1999-01-01T00:00:00Z'), at(7), at('soon'), 'no record']);
    log.output('stdout', Buffer.from('now\n'));
    log.write([at('2026-01-01T00:00:00.000003Z')]);
    const { data } = await log.tail();
    const stamps = (plane.text() + data.toString('utf8'))
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { timestamp?: unknown }).timestamp);
    expect(stamps.slice(0, 7)).toEqual([
      '2026-01-01T00:00:00.000002Z',
      '2026-01-01T00:00:00.000002Z',
      '2026-01-01T00:00:00.500000Z',
      '2026-01-01T00:00:00.500000Z',
      7,
      'soon',
      undefined,
    ]);
    expect(stamps[7]).toMatch(/^\d{4}-.{14}\.\d{6}Z$/);
    expect(stamps[8]).toBe(stamps[7]);
    log.close();
  });
});
