import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TarError, readTar, writeTar } from './tar.ts';
import type { TarEntry } from './tar.ts';

type Plain = { path: string; content: Buffer };

async function* entriesOf(files: readonly Plain[]): AsyncGenerator<TarEntry> {
  for (const { path, content } of files) yield { kind: 'file', path, size: content.length, content: [content] };
}

async function archive(files: readonly Plain[]): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of writeTar(entriesOf(files))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function* inPieces(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function unpacked(bytes: Buffer, pieceSize = 1_000): Promise<Plain[]> {
  const files: Plain[] = [];
  for await (const entry of readTar(inPieces(bytes, pieceSize))) {
    if (entry.kind === 'directory') continue;
    const chunks: Buffer[] = [];
    for await (const chunk of entry.content) chunks.push(chunk);
    files.push({ path: entry.path, content: Buffer.concat(chunks) });
  }
  return files;
}

const name = fc.stringMatching(/^[a-zA-Z0-9 äöü€+:~.-]{1,240}$/u);
const plainFiles = fc.array(
  fc.record({ path: name, content: fc.uint8Array({ maxLength: 2_000 }).map((bytes) => Buffer.from(bytes)) }),
  { maxLength: 6 },
);

describe('an archive', () => {
  it('gives back what went in, whatever the names, the sizes and the pieces it arrives in', async () => {
    await fc.assert(
      fc.asyncProperty(plainFiles, fc.integer({ min: 1, max: 5_000 }), async (files, pieceSize) => {
        expect(await unpacked(await archive(files), pieceSize)).toEqual(files);
      }),
      { numRuns: 60 },
    );
  });

  it('that was cut anywhere is refused, never read as a shorter one', async () => {
    const whole = await archive([
      { path: 'one', content: Buffer.alloc(700, 1) },
      { path: 'ö'.repeat(120), content: Buffer.alloc(10, 2) },
    ]);
    const end = whole.length - 1_024; // of the two empty blocks, one is enough for any reader
    for (const length of [0, 1, 511, 512, 900, 1_536, 1_800, 2_048, 3_000, end - 1, end, end + 511]) {
      await expect(unpacked(whole.subarray(0, length)), `cut at ${length}`).rejects.toThrow(TarError);
    }
  });

  it('with a damaged header, or with a link in it, is refused', async () => {
    const bytes = await archive([{ path: 'one', content: Buffer.from('x') }]);
    const damaged = Buffer.from(bytes);
    damaged[0] = 0x41;
    await expect(unpacked(damaged)).rejects.toThrow('a header in it is damaged');
    const directory = mkdtempSync(join(tmpdir(), 'svc-tar-'));
    execFileSync('sh', ['-c', 'ln -s /etc/passwd link && tar cf a.tar link'], { cwd: directory });
    await expect(unpacked(readFileSync(join(directory, 'a.tar')))).rejects.toThrow('neither a file nor a directory');
    rmSync(directory, { recursive: true });
  });

  it('that makes a reader hold a header without end is refused before memory is full', async () => {
    const bytes = await archive([{ path: 'ö'.repeat(150), content: Buffer.alloc(10, 1) }]);
    const endless = Buffer.from(bytes.subarray(0, 512));
    endless.write('77777777777', 124, 'latin1'); // the record claims eight gigabytes
    let sum = 0;
    for (const [at, byte] of endless.entries()) sum += at >= 148 && at < 156 ? 0x20 : byte;
    endless.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    let sent = 0;
    async function* hostile(): AsyncGenerator<Buffer> {
      yield endless;
      for (; sent < 1_000; sent += 1) yield Buffer.alloc(64 * 1024, 0x41);
    }
    const reading = (async () => {
      for await (const entry of readTar(hostile())) void entry;
    })();
    await expect(reading).rejects.toThrow('a name in it is too long');
    expect(sent).toBeLessThan(50);
  });

  it('can be read with the tools of the machine', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'svc-tar-'));
    const files = [
      { path: 'short', content: Buffer.from('1') },
      { path: `${'long/'.repeat(40)}ü`, content: Buffer.alloc(1_025, 7) },
    ];
    writeFileSync(join(directory, 'a.tar'), await archive(files));
    execFileSync('tar', ['xf', 'a.tar'], { cwd: directory, env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } });
    for (const { path, content } of files) expect(readFileSync(join(directory, path))).toEqual(content);
    rmSync(directory, { recursive: true });
  });
});
