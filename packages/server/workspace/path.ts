/**
 * Paths as the editor names them: relative to the workspace, with slashes between parts. The rules are equal on every
 * system, so that a file made here can be checked out anywhere. This check is the first of two. A path that passes can
 * still lead through a link, which directory-handle.ts refuses.
 */
import { hasInvisible } from '@svc/spec/ids.ts';
import { WorkspaceError } from './errors.ts';

export type WorkspacePath = { folder: readonly string[]; name: string; text: string };

const MAX_PATH_CHARACTERS = 1_000;
const MAX_DEPTH = 20;
const MAX_NAME_BYTES = 255;

/** Folders that tools fill with thousands of files. No person edits them. */
const CLOSED = new Set(['__pycache__', 'node_modules', 'venv', 'site-packages']);

/** Names of devices on Windows, with any extension and in any case. */
const WINDOWS_DEVICE = /^(?:con|prn|aux|nul|conin\$|conout\$|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)/i;

export function parsePath(text: string): WorkspacePath {
  const refuse = (why: string): never => {
    throw new WorkspaceError('invalid_path', `${JSON.stringify(shortened(text))} ${why}`);
  };
  if (text === '') refuse('is empty: name a file, such as "my_project/dag.py"');
  if (text.length > MAX_PATH_CHARACTERS) refuse(`is longer than ${MAX_PATH_CHARACTERS} characters`);
  if (text.includes('\\')) refuse('has a backslash: separate folders with "/"');
  if (text.startsWith('/')) refuse('must not start with "/": it is looked for in the workspace');
  const parts = text.split('/');
  if (parts.length > MAX_DEPTH) refuse(`lies more than ${MAX_DEPTH} folders deep`);
  for (const part of parts) {
    const fault = faultOfName(part);
    if (fault !== undefined) refuse(fault);
  }
  return { folder: parts.slice(0, -1), name: parts.at(-1) ?? '', text };
}

/** Returns why a file or folder cannot have this name, or undefined. */
export function faultOfName(name: string): string | undefined {
  if (name === '') return 'has an empty part: write one "/" between folders, and none at the end';
  if (name === '.' || name === '..') return 'must not contain "." or "..": name the file by its place in the workspace';
  if (name.startsWith('.')) return `is hidden: "${shortened(name)}" and what is below it is closed to the editor`;
  if (CLOSED.has(name)) return `is made by tools: what is in "${name}" is closed to the editor`;
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  if (!name.isWellFormed() || /[\u0000-\u001f\u007f-\u009f]/.test(name)) return 'has a character that no name can have';
  if (hasInvisible(name)) return 'has a character that nobody can see, or one that turns the direction of text';
  if (/[<>:"|?*]/.test(name)) return 'has one of < > : " | ? *, which not every system can have in a name';
  if (/[. ]$/.test(name)) return 'has a part that ends with a dot or a space, which not every system can have';
  if (WINDOWS_DEVICE.test(name)) return `has the part "${name}", which is a device on Windows: choose another name`;
  if (Buffer.byteLength(name) > MAX_NAME_BYTES) return `has a part longer than ${MAX_NAME_BYTES} bytes`;
  return undefined;
}

const shortened = (text: string): string => (text.length > 100 ? `${text.slice(0, 99)}…` : text).toWellFormed();
