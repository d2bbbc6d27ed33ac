import fc from 'fast-check';
import { expect, it } from 'vitest';
import { decodeCommand, encodeCommand } from './announced-command.ts';

const named = { event: 'cli_dag_trigger', hostName: 'host', systemUser: 'ada', fullCommand: "['svc']" };

it('an announced command of any text and length fits into the headers that proxies let through', () => {
  const text = fc.string({ unit: 'binary', maxLength: 300 });
  fc.assert(
    fc.property(text, text, text, (hostName, systemUser, fullCommand) => {
      const header = encodeCommand({ ...named, hostName, systemUser, fullCommand });
      expect(header).toMatch(/^[\w-]{1,7500}$/);
      expect(decodeCommand(header)).toMatchObject({ event: named.event });
    }),
    { numRuns: 40 },
  );
  for (const unit of ['\u4e00', '\u0001', '"', '\u{1f600}']) {
    const widest = unit.repeat(5_000);
    const dagId = unit.repeat(250).slice(0, 250);
    const header = encodeCommand({ ...named, hostName: widest, systemUser: widest, fullCommand: widest, dagId });
    expect(decodeCommand(header)?.fullCommand).toHaveLength(1_000);
  }
});

it('an announced command that fits arrives to the letter', () => {
  const text = fc.string({ unit: 'grapheme', maxLength: 100 }).filter((value) => !/\p{Cc}/u.test(value));
  fc.assert(
    fc.property(text, text, (systemUser, fullCommand) => {
      const command = { ...named, systemUser, fullCommand, dagId: 'etl' };
      expect(decodeCommand(encodeCommand(command))).toEqual(command);
    }),
    { numRuns: 40 },
  );
});

it.each([
  ['an event of another kind', { ...named, event: 'delete_user' }],
  ['an event with more than a name', { ...named, event: 'cli_x; drop' }],
  ['no host', { ...named, hostName: undefined }],
  ['a number for a user', { ...named, systemUser: 7 }],
  ['a command longer than the limit', { ...named, fullCommand: 'x'.repeat(1_001) }],
  ['text that cannot be stored', { ...named, fullCommand: 'a\0b' }],
  ['null', null],
])('a header with %s announces nothing', (_what, value) => {
  expect(decodeCommand(Buffer.from(JSON.stringify(value)).toString('base64url'))).toBeUndefined();
});

it('a header that is no JSON, comes twice or has no end announces nothing', () => {
  for (const header of ['', '%%%', 'svc dags trigger', ['a', 'b'], undefined, 'x'.repeat(9_000)])
    expect(decodeCommand(header)).toBeUndefined();
});
