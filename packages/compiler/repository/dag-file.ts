/** Airflow's own test of what is a DAG file, so that helper modules beside DAG files are not executed one by one. */
import { FileLimitError } from '@svc/spec/files/limits.ts';
import { readTextFile } from '@svc/spec/files/read-text.ts';

export function mentionsDags(text: string): boolean {
  const lower = text.toLowerCase();
  return lower.includes('airflow') && (lower.includes('dag') || lower.includes('asset'));
}

/** What is above the size of a DAG file is data, and is not read. */
export function looksLikeDagFile(path: string, { ifUnreadable }: { ifUnreadable: boolean }): boolean {
  try {
    return mentionsDags(readTextFile('dagFile', path, path, 'latin1'));
  } catch (error) {
    const isNoFile = ['EINVAL', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '');
    return error instanceof FileLimitError || isNoFile ? false : ifUnreadable;
  }
}
