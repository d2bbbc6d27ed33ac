/** Archives that were made to do something else than to be restored, or that were damaged on the way. */
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { pack } from 'tar-stream';
import type { Header } from 'tar-stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runSvc } from '@svc/testing/cli/run-in-process.ts';
import { SEED } from '@svc/testing/seed.ts';

type Entry = Partial<Header> & { name: string; text?: string };

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-archives-'));
  chmodSync(directory, 0o755);
  mkdirSync(join(directory, 'place'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const facts = { format: 1, svc_version: '0.7.0', postgres_version: '17', created_at: '2026-01-01T00:00:00.000Z' };
const manifest = (more: object): Entry => ({ name: 'manifest.json', text: JSON.stringify({ ...facts, ...more }) });
const file = (name: string, more: Partial<Header> = {}): Entry => ({ name, text: 'x', ...more });

async function tarOf(entries: readonly Entry[]): Promise<Buffer> {
  const archive = pack();
  for (const { text, ...header } of entries)
    if (text === undefined) archive.entry(header);
    else archive.entry(header, text);
  archive.finalize();
  return buffer(Readable.from(archive));
}

/** Fails unless the archive is refused in words, and nothing of it is left anywhere. */
async function expectRefused(bytes: Uint8Array): Promise<string> {
  const path = join(directory, 'a.tar.gz');
  writeFileSync(path, bytes);
  const target = join(directory, 'place', 'data');
  const { code, stderr } = await runSvc(['lite', 'restore', path, '--data-dir', target], { env: { HOME: directory } });
  expect([code, stderr]).toEqual([1, expect.stringContaining('is not a whole backup of svc lite: ')]);
  expect(stderr).not.toMatch(/[^\P{Cc}\n]/u);
  expect(readdirSync(directory).toSorted()).toEqual(['a.tar.gz', 'place']);
  expect(readdirSync(join(directory, 'place'))).toEqual([]);
  return stderr;
}

describe('an archive to restore', () => {
  it.each<[string, Entry[]]>([
    ['that leads out of its directory', [file('postgres/../../../out')]],
    ['that leads out by an absolute path', [file('/etc/cron.d/out')]],
    ['that leads out by an extended header', [file('x', { pax: { path: 'secrets/../../out' } })]],
    ['with a link', [{ name: 'postgres/link', type: 'symlink', linkname: '/etc/passwd' }]],
    ['with a hard link', [{ name: 'postgres/link', type: 'link', linkname: '/etc/shadow' }]],
    ['with a device', [{ name: 'postgres/device', type: 'block-device', devmajor: 8, devminor: 0 }]],
    ['with one file twice', [file('logs/a'), file('logs/a')]],
    ['with one file under two names', [file('logs/a'), file('logs/./a')]],
    ['with a file below a file', [file('logs/a'), file('logs/a/b')]],
    ['with a directory that is a file', [file('logs/a'), { name: 'logs/a/', type: 'directory' }]],
    ['with a name that changes the terminal', [file('logs/\u001b[2Ja')]],
    ['with a name that is no name', [file('logs/a\u0000b', { pax: { path: 'logs/a\u0000b' } })]],
    ['with a name that is too long', [file(`logs/${'a'.repeat(300)}`)]],
    ['with a path that is too long', [file(`logs${'/a'.repeat(4_000)}`)]],
    ['with a manifest that is a directory', [{ name: 'manifest.json', type: 'directory' }]],
    ['whose manifest lists nothing', [manifest({ files: null })]],
    ['whose manifest lists no checksums', [file('logs/a'), manifest({ files: { 'logs/a': null } })]],
    ['whose manifest changes the terminal', [manifest({ svc_version: '\u001b[2J', files: {} })]],
    ['whose manifest is nested deeply', [{ name: 'manifest.json', text: '['.repeat(500_000) }]],
    ['without a manifest', [file('logs/a')]],
  ])('%s is refused, and leaves nothing behind', async (_what, entries) => {
    await expectRefused(gzipSync(await tarOf(entries)));
  });

  it('that was damaged anywhere, compressed or not, is refused in words', async () => {
    const tar = await tarOf([file('secrets/key'), file(`logs/${'ä'.repeat(120)}`), manifest({ files: {} })]);
    const damages = fc.array(fc.tuple(fc.nat(tar.length - 1), fc.nat(255)), { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(damages, fc.boolean(), async (changes, isOutside) => {
        const bytes = isOutside ? gzipSync(tar) : Buffer.from(tar);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        await expectRefused(isOutside ? bytes : gzipSync(bytes));
      }),
      { numRuns: 60, seed: SEED },
    );
  });
});
