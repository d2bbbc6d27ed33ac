import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readJoinArguments } from './join.ts';

const folder = mkdtempSync(joinPath(tmpdir(), 'svc-join-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
function fileWith(name: string, text: string): string {
  const path = joinPath(folder, name);
  writeFileSync(path, text);
  return path;
}
const token = fileWith('token', `svc_wt_${'a'.repeat(46)}\n`);
const authority = fileWith('ca.pem', '-----BEGIN CERTIFICATE-----\n');
const local = ['--server', '127.0.0.1:9091', '--token-file', token];

describe('the arguments of a worker that joins', () => {
  it('are none for one that the control plane has started', () => {
    expect(readJoinArguments([])).toBeUndefined();
  });

  it('are queues, slots and a name, which have defaults', () => {
    const given = ['--queue', 'gpu, big,', '--slots', '4', '--name', 'rack-4'];
    expect(readJoinArguments([...local, ...given])).toEqual({
      servers: ['127.0.0.1:9091'],
      tokenFile: token,
      caFile: '',
      queues: ['gpu', 'big'],
      slots: 4,
      name: 'rack-4',
    });
    expect(readJoinArguments(local)).toMatchObject({ queues: [], slots: 1, name: '' });
  });

  it.each([
    ['another host without TLS', ['--server', 'svc.example.com:9091', '--token-file', token], '--ca-file is missing'],
    [
      'an address that only looks like loopback',
      ['--server', '127.example.com:9091', '--token-file', token],
      '--ca-file',
    ],
    ['no server', ['--token-file', token], '--server is missing'],
    ['a URL', ['--server', 'https://svc:9091', '--token-file', token], 'write host:port'],
    ['no token', ['--server', 'localhost:9091'], '--token-file is missing'],
    ['a token file that is not there', ['--server', 'localhost:9091', '--token-file', '/nowhere/x'], 'cannot be read'],
    ['a file without a token', ['--server', 'localhost:9091', '--token-file', authority], 'holds no token'],
    ['a certificate that is none', [...local, '--ca-file', token], 'holds no certificate'],
    ['no slots', [...local, '--slots', '0'], '--slots 0'],
    ['slots in words', [...local, '--slots', 'many'], '--slots many'],
    ['a word nobody knows', [...local, '--gpu'], "Unknown option '--gpu'"],
    ['more than options', [...local, 'gpu'], 'gpu'],
  ])('refuse %s in words', (_what, args, words) => {
    expect(() => readJoinArguments(args)).toThrow(words);
  });

  it('name several servers, in one word or in several, each once', () => {
    const args = ['--server', 'localhost:1, localhost:2', '--server', '127.0.0.1:3,localhost:1', '--token-file', token];
    expect(readJoinArguments(args)).toMatchObject({ servers: ['localhost:1', 'localhost:2', '127.0.0.1:3'] });
    const mixed = ['--server', 'localhost:1,svc.example.com:2', '--token-file', token];
    expect(() => readJoinArguments(mixed)).toThrow('svc.example.com:2 is another host');
  });

  it('take another host with the authority of its certificate', () => {
    const args = ['--server', 'svc.example.com:9091', '--token-file', token, '--ca-file', authority];
    expect(readJoinArguments(args)).toMatchObject({ servers: ['svc.example.com:9091'], caFile: authority });
  });
});
