/** DAG files at the root of a zip file, as Airflow has packaged DAGs. */
import { inflateRawSync } from 'node:zlib';
import { FILE_LIMITS, FileLimitError, tooMany } from '@svc/spec/files/limits.ts';
import { readBytes } from '@svc/spec/files/read-text.ts';
import { mentionsDags } from './dag-file.ts';

const { bytes: MAX_FILE_BYTES } = FILE_LIMITS.dagFile;
const { entries: MAX_ENTRIES, instead: INSTEAD } = FILE_LIMITS.archive;
/** Of all DAG files of an archive together, unpacked. */
const MAX_UNPACKED_BYTES = 32 * 1024 * 1024;

/**
 * Names of the .py files at its root that mention both words; undefined when it cannot be read. Throws a FileLimitError for an
 * archive above a bound.
 */
export function dagFilesOfZip(path: string, shown: string): string[] | undefined {
  try {
    const archive = readBytes('archive', path, shown);
    const found: string[] = [];
    let unpacked = 0;
    for (const entry of entriesOf(archive, shown)) {
      if (!/^[^/\\]+\.py$/.test(entry.name) || entry.size > MAX_FILE_BYTES) continue;
      unpacked += entry.size;
      if (unpacked > MAX_UNPACKED_BYTES) {
        const message = 'has more than 32 MiB of Python files at its root, which is the limit';
        throw new FileLimitError({ file: shown, message, instead: INSTEAD });
      }
      if (mentionsDags(contentOf(archive, entry).toString('latin1'))) found.push(entry.name);
    }
    return found.sort();
  } catch (error) {
    if (error instanceof FileLimitError) throw error;
    return undefined;
  }
}

type Entry = { name: string; method: number; packed: number; size: number; at: number };

const END_SIGNATURE = 0x06054b50;
const ENTRY_SIGNATURE = 0x02014b50;
const LOCAL_SIGNATURE = 0x04034b50;
const END_BYTES = 22;
const ENTRY_BYTES = 46;
const LOCAL_BYTES = 30;
const MAX_COMMENT_BYTES = 0xffff;
const DEFLATED = 8;

/** Of the directory at its end. Reading outside of the archive throws, as every other fault of it does. */
function* entriesOf(archive: Buffer, shown: string): Generator<Entry> {
  let end = archive.length - END_BYTES;
  const first = Math.max(0, end - MAX_COMMENT_BYTES);
  while (end >= first && archive.readUInt32LE(end) !== END_SIGNATURE) end -= 1;
  if (end < first) throw new Error('no end of a zip directory');
  const count = archive.readUInt16LE(end + 10);
  if (count > MAX_ENTRIES) throw tooMany('archive', shown, { what: 'files', limit: MAX_ENTRIES, line: null });
  let at = archive.readUInt32LE(end + 16);
  for (let index = 0; index < count; index += 1) {
    if (archive.readUInt32LE(at) !== ENTRY_SIGNATURE) throw new Error('no entry of a zip directory');
    const nameBytes = archive.readUInt16LE(at + 28);
    yield {
      name: archive.toString('utf8', at + ENTRY_BYTES, at + ENTRY_BYTES + nameBytes),
      method: archive.readUInt16LE(at + 10),
      packed: archive.readUInt32LE(at + 20),
      size: archive.readUInt32LE(at + 24),
      at: archive.readUInt32LE(at + 42),
    };
    at += ENTRY_BYTES + nameBytes + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
}

/** No more than its entry says it has: an entry may lie, and a few bytes may unpack to gigabytes. */
function contentOf(archive: Buffer, { method, packed, size, at }: Entry): Buffer {
  if (archive.readUInt32LE(at) !== LOCAL_SIGNATURE) throw new Error('no file of a zip');
  const start = at + LOCAL_BYTES + archive.readUInt16LE(at + 26) + archive.readUInt16LE(at + 28);
  if (start + packed > archive.length) throw new Error('a file of a zip is cut off');
  const content = archive.subarray(start, start + packed);
  if (method === DEFLATED) return inflateRawSync(content, { maxOutputLength: Math.max(1, size) });
  if (method !== 0 || packed !== size) throw new Error('a file of a zip is packed in an unknown way');
  return content;
}
