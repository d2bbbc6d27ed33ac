/** The files of one repository: each is read once, within the bounds of its kind, and those above them are remembered. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { FileLimitError } from '@svc/spec/files/limits.ts';
import type { FileKind } from '@svc/spec/files/limits.ts';
import { textIfReadable } from '@svc/spec/files/read-text.ts';

export type RepositoryFiles = {
  /** By its name below the root. Undefined when there is no such file, or it is above a bound. */
  text(kind: FileKind, name: string): string | undefined;
  /** What `work` gives, or undefined when it finds something above a bound. */
  within<T>(work: () => T): T | undefined;
  /** What is at a path below the root. */
  kindOf(name: string): 'file' | 'folder' | undefined;
  readonly refused: readonly FileLimitError[];
};

export function repositoryFiles(root: string): RepositoryFiles {
  const texts = new Map<string, string | undefined>();
  const refused: FileLimitError[] = [];
  const within = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof FileLimitError)) throw error;
      const isKnown = refused.some(({ file, message }) => file === error.file && message === error.message);
      if (!isKnown) refused.push(error);
      return undefined;
    }
  };
  return {
    text(kind, name) {
      if (!texts.has(name))
        texts.set(
          name,
          within(() => textIfReadable(kind, join(root, name), name)),
        );
      return texts.get(name);
    },
    within,
    kindOf(name) {
      if (name.startsWith('..') || name.includes('\0')) return undefined;
      const info = statSync(join(root, name), { throwIfNoEntry: false });
      return info?.isDirectory() ? 'folder' : info?.isFile() ? 'file' : undefined;
    },
    refused,
  };
}
