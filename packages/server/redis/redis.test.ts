import { createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { startRedis } from '@svc/testing/services/redis.ts';
import type { TestRedis } from '@svc/testing/services/redis.ts';
import { openRedis } from './redis.ts';
import type { Redis } from './redis.ts';
import type { RedisSettings } from './settings.ts';

/** On a busy machine; what is late is told to be so by the tests that are about it. */
const PATIENT_MS = 10_000;

let server: TestRedis;
let open: Redis | undefined;
let logged: string[] = [];

beforeAll(async () => {
  server = await startRedis();
});
afterAll(() => server.close());
afterEach(() => {
  open?.close();
  open = undefined;
});

function redisAt(settings: Partial<RedisSettings> = {}, wellAfterMs = 0): Redis {
  logged = [];
  const keep = (details: object, message: string): void => void logged.push(`${message} ${JSON.stringify(details)}`);
  open = openRedis({
    settings: { url: server.url(), caFile: '', answerWithinMs: PATIENT_MS, ...settings },
    log: { info: keep, warn: keep },
    wellAfterMs,
  });
  return open;
}

const up = (redis: Redis) => eventually(() => expect(redis.isUp()).toBe(true));
const outcomes = (redis: Redis) => Object.fromEntries(redis.usage().commands);

async function stored(redis: Redis, key: string, text: string): Promise<void> {
  const before = redis.usage().commands.get('set:ok') ?? 0;
  redis.put(key, text, 60);
  await eventually(() => expect(redis.usage().commands.get('set:ok') ?? 0).toBe(before + 1));
}

describe('texts by key', () => {
  it('come back as they were put, in order, null where there is none, and every key has an end', async () => {
    const redis = redisAt();
    expect(redis.problem()).toBeNull(); // it connects, and nothing is known to be wrong
    await up(redis);
    const text = `{"ä":"${'x'.repeat(100_000)}\\u0000 \u{1F600}"}`;
    await stored(redis, 'svc:a', text);
    expect(await redis.getMany(['svc:a', 'svc:none', 'svc:a'])).toEqual([text, null, text]);
    expect(Number(server.cli('TTL', 'svc:a'))).toBeGreaterThan(0);
    expect(redis.problem()).toBeNull();
  });

  it('are looked for in the database that the URL names', async () => {
    const redis = redisAt({ url: `${server.url()}/3` });
    await up(redis);
    await stored(redis, 'svc:three', 'here');
    expect(server.cli('-n', '3', 'GET', 'svc:three')).toBe('here');
    expect(server.cli('GET', 'svc:three')).toBe('');
  });
});

describe('a Redis that is away', () => {
  it('at the start, stopped, flushed and started again: calls end at once, and it is used when it is back', async () => {
    const other = await startRedis();
    await other.stop();
    const redis = redisAt({ url: other.url() });
    await eventually(() => expect(redis.usage().outages).toBe(1));
    expect(redis.problem()).toContain('Redis is away');
    expect(await redis.getMany(['svc:a'])).toBeUndefined();
    redis.put('svc:a', 'lost', 60);
    await other.start();
    await up(redis);
    expect(await redis.getMany(['svc:a'])).toEqual([null]); // nothing was queued for later
    await stored(redis, 'svc:a', 'one');
    other.cli('FLUSHALL');
    expect(await redis.getMany(['svc:a'])).toEqual([null]);
    await other.stop();
    await eventually(() => expect(redis.isUp()).toBe(false));
    await other.start();
    await up(redis);
    expect(redis.usage().outages).toBe(2);
    expect(logged.filter((line) => line.startsWith('Redis answers'))).toHaveLength(2);
    await other.close();
  });

  it('that holds still: one late answer opens the breaker, everybody who waits is released, and no more is sent', async () => {
    const redis = redisAt({ answerWithinMs: 100 });
    await up(redis);
    server.hold();
    try {
      const waiting = await Promise.all(Array.from({ length: 20 }, () => redis.getMany(['svc:a'])));
      expect(waiting).toEqual(Array.from({ length: 20 }, () => undefined));
      expect(redis.isUp()).toBe(false);
      expect(redis.problem()).toContain('Redis is away');
      expect(logged.filter((line) => line.includes('no answer within'))).not.toEqual([]);
    } finally {
      server.letGo();
    }
    // A busy machine may be late once more.
    await eventually(async () => expect(await redis.getMany(['svc:none'])).toEqual([null]));
  });

  it('that takes connections and says nothing, or nonsense, is away', async () => {
    const sockets: Socket[] = [];
    const black = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    const nonsense = createServer((socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')).listen(
      0,
      '127.0.0.1',
    );
    await Promise.all([once(black, 'listening'), once(nonsense, 'listening')]);
    for (const listener of [black, nonsense]) {
      const url = `redis://127.0.0.1:${(listener.address() as AddressInfo).port}`;
      const redis = redisAt({ url, answerWithinMs: 50 });
      await eventually(() => expect(redis.usage().outages).toBeGreaterThan(0));
      expect(redis.isUp()).toBe(false);
      expect(await redis.getMany(['svc:a'])).toBeUndefined();
      redis.close();
    }
    for (const socket of sockets) socket.destroy();
    black.close();
    nonsense.close();
  });
});

describe('a Redis that says no', () => {
  it('because its memory is full: dropped, told once, shown while it lasts; what it has stays readable', async () => {
    const full = await startRedis({ args: ['--maxmemory', '8mb', '--maxmemory-policy', 'noeviction'] });
    const redis = redisAt({ url: full.url() });
    await up(redis);
    await stored(redis, 'svc:first', 'x'.repeat(1_000_000));
    for (let n = 0; n < 20; n += 1) redis.put(`svc:more:${n}`, 'y'.repeat(1_000_000), 60);
    await eventually(() => expect(redis.problem()).toContain('no memory left'));
    await eventually(() => {
      const { 'set:ok': ok = 0, 'set:refused': refused = 0 } = outcomes(redis);
      expect(ok + refused).toBe(21);
      expect(refused).toBeGreaterThan(0);
    });
    expect(redis.isUp()).toBe(true);
    expect((await redis.getMany(['svc:first']))?.[0]).toHaveLength(1_000_000);
    expect(logged.filter((line) => line.includes('no memory left'))).toHaveLength(1);
    full.cli('FLUSHALL');
    await stored(redis, 'svc:again', 'z');
    expect(redis.problem()).toBeNull();
    await full.close();
  });

  it('evicts when it may: what is gone is null, and nothing is a problem', async () => {
    const small = await startRedis({ args: ['--maxmemory', '8mb', '--maxmemory-policy', 'allkeys-lru'] });
    const redis = redisAt({ url: small.url() });
    await up(redis);
    for (let n = 0; n < 20; n += 1) await stored(redis, `svc:${n}`, `${n}${'y'.repeat(1_000_000)}`);
    const texts = (await redis.getMany(Array.from({ length: 20 }, (_, n) => `svc:${n}`))) ?? [];
    expect(texts).toHaveLength(20);
    expect(texts.filter((text) => text === null).length).toBeGreaterThan(0);
    texts.forEach((text, n) => expect([null, `${n}${'y'.repeat(1_000_000)}`]).toContain(text));
    expect(redis.problem()).toBeNull();
    await small.close();
  });

  it('to a user without rights, and to a wrong password, in words without it', async () => {
    server.cli(
      'ACL',
      'SETUSER',
      'svc',
      'on',
      '>p@ss/w%rd',
      '~svc:*',
      '&svc:*',
      '+mget',
      '+set',
      '+ping',
      '+publish',
      '+subscribe',
    );
    server.cli('ACL', 'SETUSER', 'reader', 'on', '>secret', '~svc:*', '+mget', '+ping');
    const redis = redisAt({ url: server.url(`svc:${encodeURIComponent('p@ss/w%rd')}`) });
    await up(redis);
    await stored(redis, 'svc:mine', 'text');
    expect(await redis.getMany(['svc:mine'])).toEqual(['text']);
    redis.close();

    const reader = redisAt({ url: server.url('reader:secret') });
    await up(reader);
    reader.put('svc:mine', 'other', 60);
    await eventually(() => expect(reader.problem()).toContain('+mget +set'));
    expect(await reader.getMany(['svc:mine'])).toEqual(['text']);
    reader.close();

    const stranger = redisAt({ url: server.url('svc:not-the-password') });
    await eventually(() => expect(logged.join('\n')).toContain('WRONGPASS'));
    expect(stranger.isUp()).toBe(false);
    expect(`${stranger.problem()}${logged.join('')}`).not.toContain('not-the-password');
  });
});

describe('rediss://', () => {
  it('trusts the authority of redis.ca_file, and nobody else', async () => {
    const secure = await startRedis({ tls: true, args: ['--bind', '127.0.0.1', '127.0.0.2'] });
    const redis = redisAt({ url: secure.url(), caFile: secure.caFile });
    await up(redis);
    await stored(redis, 'svc:a', 'sealed');
    expect(await redis.getMany(['svc:a'])).toEqual(['sealed']);
    redis.close();

    const stranger = redisAt({ url: secure.url() });
    await eventually(() => expect(logged.join('\n')).toMatch(/certificate/i));
    expect(stranger.isUp()).toBe(false);
    stranger.close();

    const elsewhere = redisAt({ url: secure.url().replace('127.0.0.1', '127.0.0.2'), caFile: secure.caFile });
    await eventually(() => expect(logged.join('\n')).toContain('not in the cert'));
    expect(elsewhere.isUp()).toBe(false);
    await secure.close();
  });
});

describe('messages between processes', () => {
  it('reach who listens, also after Redis was away, which is told; nobody waits for them', async () => {
    const other = await startRedis();
    const ours = redisAt({ url: other.url() });
    await up(ours);
    const theirs = openRedis({
      settings: { url: other.url(), caFile: '', answerWithinMs: PATIENT_MS },
      log: { info: () => {}, warn: () => {} },
    });
    await up(theirs);
    const got: string[] = [];
    const listen = (channel: string) =>
      theirs.subscribe(channel, {
        onMessage: (message) => void got.push(`${channel} ${message}`),
        onSubscribed: () => void got.push(`${channel} from now on`),
      });
    listen('svc:one');
    await eventually(() => expect(got).toEqual(['svc:one from now on']));
    listen('svc:two');
    await eventually(() => expect(got).toHaveLength(2));
    ours.publish('svc:one', 'a');
    ours.publish('svc:two', 'b');
    await eventually(() => expect(got.slice(2)).toEqual(['svc:one a', 'svc:two b']));
    await other.stop();
    await eventually(() => expect(ours.isUp()).toBe(false));
    ours.publish('svc:one', 'lost');
    await other.start();
    await eventually(() => expect(got.slice(4).toSorted()).toEqual(['svc:one from now on', 'svc:two from now on']));
    await up(ours);
    ours.publish('svc:two', 'c');
    await eventually(() => expect(got.at(-1)).toBe('svc:two c'));
    theirs.close();
    await other.close();
  });
});
