/** Sends the files of a commit that the control plane does not have yet. */
import { createHash } from 'node:crypto';
import { createReadStream, lstatSync, readdirSync, readlinkSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { promisify } from 'node:util';
import { deflate } from 'node:zlib';
import type { BundleUpload } from '@svc/proto/bundle-job.ts';
import { PART_BYTES, partsOf } from '@svc/proto/code-archive.ts';
import type { TreeEntry } from '@svc/proto/code-archive.ts';
import { SourceError } from './git.ts';

const deflated = promisify(deflate);
const FASTEST = { level: 1 };
/** Version control is no part of a deployment, and Python writes its caches while files are compiled. */
const LEFT_OUT = new Set(['.git', '.hg', '.svn', '__pycache__']);

/** `upload` sends one message and resolves with the answer of the control plane. */
export async function sendArchive(
  work: string,
  upload: (message: BundleUpload) => Promise<readonly string[]>,
): Promise<void> {
  const entries = await entriesOf(work);
  const missing = new Set(await upload({ kind: 'tree', entries }));
  for (const entry of entries) {
    if (!('file' in entry) || !missing.delete(entry.file)) continue;
    await sendFile(join(work, entry.path), entry, upload);
  }
  await upload({ kind: 'tree_sent' });
}

async function sendFile(
  path: string,
  { file: hash, bytes }: { file: string; bytes: number },
  upload: (message: BundleUpload) => Promise<unknown>,
): Promise<void> {
  await using file = await open(path, 'r');
  const buffer = Buffer.alloc(Math.min(PART_BYTES, bytes));
  for (let part = 0; part < partsOf(bytes); part += 1) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, part * PART_BYTES);
    const data = await deflated(buffer.subarray(0, bytesRead), FASTEST);
    await upload({ kind: 'part', hash, part, data: data.toString('base64') });
  }
}

async function entriesOf(root: string): Promise<TreeEntry[]> {
  const found: TreeEntry[] = [];
  const visit = async (folder: string): Promise<void> => {
    for (const name of readdirSync(folder)) {
      if (LEFT_OUT.has(name)) continue;
      const full = join(folder, name);
      const path = relative(root, full);
      const info = lstatSync(full);
      if (info.isDirectory()) await visit(full);
      else if (info.isSymbolicLink()) found.push({ path, link: readlinkSync(full) });
      else if (info.isFile()) {
        const executable = (info.mode & 0o111) !== 0;
        found.push({ path, file: await hashOf(full), bytes: info.size, ...(executable && { executable }) });
      } else throw new SourceError(`${path} is neither a file nor a link`);
    }
  };
  await visit(root);
  return found;
}

async function hashOf(path: string): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of createReadStream(path, { highWaterMark: PART_BYTES })) hash.update(chunk as Buffer);
  return hash.digest('hex');
}
