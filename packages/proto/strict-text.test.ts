import { describe, expect, it } from 'vitest';
import { Agent } from './agent-service.ts';

/** A message with one text in field `number`. */
const withText = (number: number, text: Buffer): Buffer =>
  Buffer.concat([Buffer.from([(number << 3) | 2, text.length]), text]);

describe('the text of a message', () => {
  const { requestDeserialize: read, requestSerialize: write } = Agent.service.Call;

  it('is read as it was sent', () => {
    const request = { method: 'get_xcom', params_json: '{"key": "ü 💥 \uFFFD"}', request_id: '\uFFFD' };
    expect(read(write(request))).toMatchObject(request);
  });

  it.each([[[0xff]], [[0x61, 0xc3]], [[0xed, 0xa0, 0x80]], [[0xc0, 0xaf]]])(
    'is refused when it is no UTF-8: %j',
    (bytes) => {
      for (const field of [1, 2, 3]) expect(() => read(withText(field, Buffer.from(bytes)))).toThrow('not valid UTF-8');
    },
  );

  it('is checked in every request, also where a message has many', () => {
    const tokens = Buffer.concat([withText(1, Buffer.from('a')), withText(1, Buffer.from([0xfe]))]);
    expect(() => Agent.service.Heartbeat.requestDeserialize(tokens)).toThrow('not valid UTF-8');
  });

  it('is something else than bytes, which may be anything', () => {
    const message = Agent.service.AppendLog.requestDeserialize(withText(2, Buffer.from([0xff, 0xfe])));
    expect([...message.data]).toEqual([0xff, 0xfe]);
  });
});
