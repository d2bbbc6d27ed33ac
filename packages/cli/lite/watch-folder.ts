/**
 * Tells of changes in a folder and below it.
 *
 *   watching ──folder replaced by another of its name──▶ watching the new one, and told
 *      └─────the system watches no more for us──▶ looking every few seconds, said once
 */
import { statSync, watch } from 'node:fs';
import type { FSWatcher } from 'node:fs';
import { messageOf, systemCode } from '../cli-error.ts';

const LOOK_EVERY_MS = 5_000;

export function watchFolder(input: {
  folder: string;
  /** With the path of the file below the folder, when it is known. */
  onChange: (path?: string) => void;
  warn: (message: string) => void;
}): { close(): void } {
  const { folder, onChange, warn } = input;
  let watcher: FSWatcher | undefined;
  let watched = identityOf(folder);

  const fail = (error: unknown): void => {
    watcher?.close();
    if (watcher || watched !== undefined) warn(`changes in ${folder} are noticed late: ${reasonOf(error)}`);
    watcher = undefined;
  };
  const open = (): void => {
    try {
      watcher = watch(folder, { recursive: true }, (_event, name) => {
        if (name === null) onChange();
        else if (isRelevant(name)) onChange(name);
      }).on('error', fail);
    } catch (error) {
      fail(error);
    }
  };
  open();

  const looking = setInterval(() => {
    const found = identityOf(folder);
    if (found === undefined) return; // gone: whoever reads it says so
    if (found !== watched) {
      watched = found;
      watcher?.close();
      open();
      onChange();
    } else if (!watcher) {
      onChange();
    }
  }, LOOK_EVERY_MS);
  return {
    close() {
      clearInterval(looking);
      watcher?.close();
    },
  };
}

/** Numbers of directories are used again at once, so the number alone says little. */
function identityOf(folder: string): string | undefined {
  const found = statSync(folder, { throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}:${found.birthtimeMs}`;
}

/** The system has no more room for watches, which its word for it (no space left) does not say. */
const reasonOf = (error: unknown): string =>
  systemCode(error) === 'ENOSPC' || systemCode(error) === 'EMFILE'
    ? 'the system lets us watch no more files; raise it with "sysctl fs.inotify.max_user_watches=524288" and start again'
    : messageOf(error);

/** Bytecode, editors' swap files and hidden directories change all the time and mean nothing; but for one hidden file. */
const isRelevant = (path: string): boolean =>
  /(^|[/\\])\.airflowignore$/.test(path) || !/(^|[/\\])(__pycache__|\.[^/\\]+)([/\\]|$)|\.pyc$|~$/.test(path);
