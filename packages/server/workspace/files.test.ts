/** The editor's hands on the file system: what they reach, and what they must not. */
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WorkspaceFault } from './errors.ts';
import { createWorkspaceFiles } from './files.ts';
import type { WorkspaceFiles } from './files.ts';

const SECRET = 'SECRET = "outside"\n';
let base: string;
let root: string;
let files: WorkspaceFiles;

beforeEach(() => {
  base = mkdtempSync(join(tmpdir(), 'svc-files-'));
  root = join(base, 'workspace');
  mkdirSync(join(root, 'project'), { recursive: true });
  mkdirSync(join(base, 'outside'));
  writeFileSync(join(base, 'outside', 'secret.py'), SECRET);
  writeFileSync(join(root, 'project', 'dag.py'), 'x = 1\n');
  files = createWorkspaceFiles(root);
});
afterEach(() => rmSync(base, { recursive: true, force: true }));

const onDisk = (...parts: string[]): string => readFileSync(join(root, ...parts), 'utf8');
const isRefused = (work: Promise<unknown>, fault: WorkspaceFault): Promise<void> =>
  expect(work).rejects.toMatchObject({ fault });
/** What a crash or a refusal must not leave behind. */
const drafts = (): string[] =>
  readdirSync(base, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.tmp'));

describe('a file of the workspace', () => {
  it('is read with a tag, and replaced by whoever has the tag', async () => {
    const { content, etag } = await files.read('project/dag.py');
    expect(content).toBe('x = 1\n');
    const { etag: next } = await files.write({ path: 'project/dag.py', content: 'x = 2\n', expected: etag });
    expect(onDisk('project', 'dag.py')).toBe('x = 2\n');
    expect((await files.read('project/dag.py')).etag).toBe(next);
    expect(drafts()).toEqual([]);
  });

  it('is not replaced by whoever saw an older one, nor when it is gone', async () => {
    const { etag } = await files.read('project/dag.py');
    writeFileSync(join(root, 'project', 'dag.py'), 'somebody else\n');
    await isRefused(files.write({ path: 'project/dag.py', content: 'mine\n', expected: etag }), 'changed');
    expect(onDisk('project', 'dag.py')).toBe('somebody else\n');
    unlinkSync(join(root, 'project', 'dag.py'));
    await isRefused(files.write({ path: 'project/dag.py', content: 'mine\n', expected: etag }), 'not_found');
    expect(drafts()).toEqual([]);
  });

  it('is not written again with what it has already, which would compile everything that imports it', async () => {
    const { etag } = await files.read('project/dag.py');
    const before = statSync(join(root, 'project', 'dag.py'));
    const unchanged = await files.write({ path: 'project/dag.py', content: 'x = 1\n', expected: etag });
    expect(unchanged).toEqual({ etag, isWritten: false });
    const after = statSync(join(root, 'project', 'dag.py'));
    expect([after.ino, after.mtimeMs, after.ctimeMs]).toEqual([before.ino, before.mtimeMs, before.ctimeMs]);
    await isRefused(files.write({ path: 'project/dag.py', content: 'x = 1\n', expected: '"old"' }), 'changed');
  });

  it('has one winner among many who write at once with the same tag', async () => {
    const { etag } = await files.read('project/dag.py');
    const writes = Array.from({ length: 20 }, (_, index) =>
      files.write({ path: 'project/dag.py', content: `x = ${index}\n`, expected: etag }),
    );
    const outcomes = await Promise.allSettled(writes);
    expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is made, with its folders, only where there is none', async () => {
    await files.write({ path: 'new/deep/dag.py', content: 'y = 1\n', expected: null });
    expect(onDisk('new', 'deep', 'dag.py')).toBe('y = 1\n');
    await isRefused(files.write({ path: 'new/deep/dag.py', content: 'z', expected: null }), 'exists');
    await isRefused(files.write({ path: 'project', content: 'z', expected: null }), 'exists');
    expect(onDisk('new', 'deep', 'dag.py')).toBe('y = 1\n');
    expect(drafts()).toEqual([]);
  });

  it('keeps its permissions, and what is special about its text', async () => {
    const text = '\ufeff# größer\r\nx = "💥"\r\n';
    writeFileSync(join(root, 'script.sh'), text);
    chmodSync(join(root, 'script.sh'), 0o751);
    const { content, etag } = await files.read('script.sh');
    expect(content).toBe(text);
    await files.write({ path: 'script.sh', content: `${content}#\r\n`, expected: etag });
    expect(onDisk('script.sh')).toBe(`${text}#\r\n`);
    expect(statSync(join(root, 'script.sh')).mode & 0o777).toBe(0o751);
  });

  it('is deleted only as it was seen', async () => {
    const { etag } = await files.read('project/dag.py');
    await isRefused(files.remove('project/dag.py', undefined), 'changed');
    await isRefused(files.remove('project/dag.py', '"old"'), 'changed');
    await files.remove('project/dag.py', etag);
    expect(existsSync(join(root, 'project', 'dag.py'))).toBe(false);
  });

  it('is renamed, and a folder with all that is in it, but never over another', async () => {
    await files.rename('project/dag.py', 'other/renamed.py');
    expect(onDisk('other', 'renamed.py')).toBe('x = 1\n');
    expect(existsSync(join(root, 'project', 'dag.py'))).toBe(false);
    await files.rename('other', 'third');
    expect(onDisk('third', 'renamed.py')).toBe('x = 1\n');
    writeFileSync(join(root, 'a.py'), 'a');
    await isRefused(files.rename('a.py', 'third/renamed.py'), 'exists');
    await isRefused(files.rename('third', 'project'), 'exists');
    await isRefused(files.rename('third', 'third/inside'), 'invalid_path');
    await isRefused(files.rename('nothing.py', 'b.py'), 'not_found');
    expect(onDisk('third', 'renamed.py')).toBe('x = 1\n');
  });
});

describe('a folder of the workspace', () => {
  it('is deleted when it is empty, bytecode apart', async () => {
    await isRefused(files.remove('project', undefined), 'not_empty');
    const { etag } = await files.read('project/dag.py');
    await files.remove('project/dag.py', etag);
    mkdirSync(join(root, 'project', '__pycache__'));
    writeFileSync(join(root, 'project', '__pycache__', 'dag.cpython-312.pyc'), '');
    await files.remove('project', undefined);
    expect(existsSync(join(root, 'project'))).toBe(false);
  });

  it('is listed with folders first, without what is hidden or made by tools', async () => {
    for (const name of ['.git', '__pycache__', 'node_modules']) {
      mkdirSync(join(root, name));
      writeFileSync(join(root, name, 'file'), '');
    }
    writeFileSync(join(root, '.env'), 'PASSWORD=1');
    writeFileSync(join(root, 'a.py'), '');
    symlinkSync(join(base, 'outside'), join(root, 'b-link'));
    expect(await files.list()).toEqual({
      isComplete: true,
      entries: [
        { path: 'project', kind: 'folder' },
        { path: 'project/dag.py', kind: 'file' },
        { path: 'a.py', kind: 'file' },
        { path: 'b-link', kind: 'link' },
      ],
    });
  });

  it('that is beyond all measure is listed in part', async () => {
    for (let index = 0; index < 10; index++) writeFileSync(join(root, 'project', `f${index}`), '');
    const { entries, isComplete } = await createWorkspaceFiles(root, { maxEntries: 5 }).list();
    expect([entries.length, isComplete]).toEqual([5, false]);
  });

  it('that is not there is reported missing, without showing where it was looked for', async () => {
    rmSync(root, { recursive: true });
    await isRefused(files.list(), 'not_found');
    await expect(files.read('a.py')).rejects.toThrow(/^a\.py does not exist$/);
  });
});

describe('what leads out of the workspace', () => {
  const linked = (target: string, ...at: string[]): void => symlinkSync(target, join(root, ...at));

  it('a linked file is neither read nor written, renamed over or deleted', async () => {
    linked(join(base, 'outside', 'secret.py'), 'link.py');
    await isRefused(files.read('link.py'), 'not_a_file');
    await isRefused(files.write({ path: 'link.py', content: 'mine', expected: '"any"' }), 'not_a_file');
    await isRefused(files.write({ path: 'link.py', content: 'mine', expected: null }), 'exists');
    await isRefused(files.rename('link.py', 'file.py'), 'not_a_file');
    await isRefused(files.rename('project/dag.py', 'link.py'), 'exists');
    await isRefused(files.remove('link.py', '"any"'), 'not_a_file');
    expect(readFileSync(join(base, 'outside', 'secret.py'), 'utf8')).toBe(SECRET);
  });

  it('a dangling link makes no file where it points', async () => {
    linked(join(base, 'outside', 'new.py'), 'link.py');
    await isRefused(files.write({ path: 'link.py', content: 'mine', expected: null }), 'exists');
    expect(existsSync(join(base, 'outside', 'new.py'))).toBe(false);
  });

  it('a linked folder is not gone through, for any deed', async () => {
    linked(join(base, 'outside'), 'folder');
    linked('../../outside', 'project', 'relative');
    for (const folder of ['folder', 'project/relative']) {
      await isRefused(files.read(`${folder}/secret.py`), 'not_a_file');
      await isRefused(files.write({ path: `${folder}/new.py`, content: '', expected: null }), 'not_a_file');
      await isRefused(files.write({ path: `${folder}/deep/new.py`, content: '', expected: null }), 'not_a_file');
      await isRefused(files.rename('project/dag.py', `${folder}/dag.py`), 'not_a_file');
      await isRefused(files.rename(`${folder}/secret.py`, 'secret.py'), 'not_a_file');
      await isRefused(files.remove(`${folder}/secret.py`, '"any"'), 'not_a_file');
      await isRefused(files.remove(folder, undefined), 'not_a_file');
    }
    expect(readdirSync(join(base, 'outside'))).toEqual(['secret.py']);
    expect(readFileSync(join(base, 'outside', 'secret.py'), 'utf8')).toBe(SECRET);
  });

  it('the workspace itself may be a link: that was the choice of whoever set it', async () => {
    symlinkSync(root, join(base, 'alias'));
    expect((await createWorkspaceFiles(join(base, 'alias')).read('project/dag.py')).content).toBe('x = 1\n');
  });

  // Elsewhere the steps are looked at one by one, which such a race can pass.
  it.runIf(process.platform === 'linux')(
    'a folder that is swapped for a link all the while never shows what is outside, nor is written through',
    async () => {
      const [inside, outside] = [join(root, 'swap'), join(base, 'outside')];
      mkdirSync(inside);
      for (const folder of [inside, outside]) writeFileSync(join(folder, 'same.py'), 'same\n');
      writeFileSync(join(inside, 'secret.py'), 'inside\n');
      const before = statSync(join(outside, 'same.py'));
      let { etag } = await files.read('swap/same.py');
      const race = { isOver: false };
      const swapping = (async () => {
        while (!race.isOver) {
          renameSync(inside, join(base, 'aside'));
          symlinkSync(outside, inside);
          await new Promise(setImmediate);
          unlinkSync(inside);
          renameSync(join(base, 'aside'), inside);
          await new Promise(setImmediate);
        }
      })();
      const seen = new Set<string>();
      for (let round = 0; round < 60; round++) {
        const outcomes = await Promise.allSettled([
          files.read('swap/secret.py'),
          files.write({ path: 'swap/same.py', content: round % 2 === 0 ? 'other\n' : 'same\n', expected: etag }),
        ]);
        for (const outcome of outcomes) {
          if (outcome.status === 'rejected') seen.add((outcome.reason as { fault?: string }).fault ?? 'unknown');
          else if ('content' in outcome.value) seen.add(outcome.value.content);
          else ({ etag } = outcome.value);
        }
      }
      race.isOver = true;
      await swapping;
      expect([...seen].filter((what) => !['inside\n', 'not_a_file', 'not_found', 'changed'].includes(what))).toEqual(
        [],
      );
      // A write replaces the file: it would be another one.
      expect(statSync(join(outside, 'same.py')).ino).toBe(before.ino);
      expect(readdirSync(outside).toSorted()).toEqual(['same.py', 'secret.py']);
    },
  );
});

describe('a file of the workspace that is no text', () => {
  it.each([
    ['bytes that are not UTF-8', Buffer.from([0x66, 0xff, 0xfe]), 'not_text'],
    ['a NUL', Buffer.from('a\0b'), 'not_text'],
    ['half a surrogate pair', Buffer.from([0xed, 0xa0, 0x80]), 'not_text'],
    ['more than 1 MiB', Buffer.alloc(1024 * 1024 + 1, 'x'), 'too_large'],
  ] as const)('because of %s is not opened', async (_what, bytes, fault) => {
    writeFileSync(join(root, 'data.bin'), bytes);
    await isRefused(files.read('data.bin'), fault);
  });

  it('is not made of a text file either, and the old file stays', async () => {
    const { etag } = await files.read('project/dag.py');
    const write = (content: string) => files.write({ path: 'project/dag.py', content, expected: etag });
    await isRefused(write('a\0b'), 'not_text');
    await isRefused(write('\ud800'), 'not_text');
    await isRefused(write('ä'.repeat(512 * 1024 + 1)), 'too_large');
    expect(onDisk('project', 'dag.py')).toBe('x = 1\n');
    await write('x'.repeat(1024 * 1024));
    expect(drafts()).toEqual([]);
  });

  it('because it is a pipe is refused and not waited for; a folder is no file', async () => {
    execFileSync('mkfifo', [join(root, 'pipe.py')]);
    await isRefused(files.read('pipe.py'), 'not_a_file');
    await isRefused(files.write({ path: 'pipe.py', content: '', expected: '"any"' }), 'not_a_file');
    await isRefused(files.remove('pipe.py', '"any"'), 'not_a_file');
    await isRefused(files.read('project'), 'not_a_file');
    await isRefused(files.read('project/dag.py/below.py'), 'not_a_file');
  });
});
