/** DAG files at the root of a zip file, as Airflow has packaged DAGs. */
import { readFile, stat } from 'node:fs/promises';
import { unzipSync } from 'fflate';

/** What is larger is data, and is not opened. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
const MAX_FILE_BYTES = 4 * 1024 * 1024;

/** Names of the .py files at its root that mention both words; undefined when it cannot be read. */
export async function dagFilesOfZip(path: string): Promise<string[] | undefined> {
  try {
    const info = await stat(path);
    if (!info.isFile() || info.size > MAX_ARCHIVE_BYTES) return [];
    const files = unzipSync(new Uint8Array(await readFile(path)), {
      filter: ({ name, originalSize }) => /^[^/]+\.py$/.test(name) && originalSize <= MAX_FILE_BYTES,
    });
    return Object.entries(files)
      .filter(([, bytes]) => mentionsDags(Buffer.from(bytes).toString('latin1')))
      .map(([name]) => name)
      .sort();
  } catch {
    return undefined;
  }
}

/** Airflow's own test, so that helper modules beside DAG files are not executed one by one. */
export function mentionsDags(text: string): boolean {
  const lower = text.toLowerCase();
  return lower.includes('dag') && lower.includes('airflow');
}
