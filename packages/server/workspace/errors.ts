/** Why a file of the workspace cannot be used. The message is for the person at the editor. */
export type WorkspaceFault =
  | 'invalid_path' // names no place in the workspace, or one that is closed to the editor
  | 'not_found'
  | 'exists'
  | 'changed' // its content differs from what the caller has seen
  | 'not_a_file' // a folder, a link, a pipe, a device
  | 'not_empty'
  | 'too_large'
  | 'not_text'
  | 'refused'; // by the file system: permissions, a full disk

export class WorkspaceError extends Error {
  readonly fault: WorkspaceFault;

  constructor(fault: WorkspaceFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** Translates an error of the file system. Its own message would reveal where the workspace is on the machine. */
export function asWorkspaceError(error: unknown, path: string): unknown {
  if (error instanceof WorkspaceError) return error;
  const { code } = error as NodeJS.ErrnoException;
  const because = code === undefined ? undefined : REASONS[code];
  if (because === undefined) return error;
  return new WorkspaceError(because[0], `${path} ${because[1]}`);
}

const REASONS: Readonly<Record<string, readonly [WorkspaceFault, string]>> = {
  ENOENT: ['not_found', 'does not exist'],
  ENOTDIR: ['not_a_file', 'is below something that is not a folder'],
  ELOOP: ['not_a_file', 'is a link: the editor follows none. Open what it points to'],
  EEXIST: ['exists', 'exists already: choose another name'],
  EISDIR: ['not_a_file', 'is a folder'],
  ENOTEMPTY: ['not_empty', 'is not empty: delete what is in it first'],
  ENAMETOOLONG: ['invalid_path', 'is too long a name for this file system'],
  EINVAL: ['invalid_path', 'cannot be the name of a file here'],
  EILSEQ: ['invalid_path', 'cannot be the name of a file here'],
  ENXIO: ['not_a_file', 'is no file, but a pipe or a device'],
  EACCES: ['refused', 'may not be touched by the control plane: check the permissions of the workspace'],
  EPERM: ['refused', 'may not be touched by the control plane: check the permissions of the workspace'],
  EROFS: ['refused', 'lies on a file system that cannot be written to'],
  ENOSPC: ['refused', 'was not written: the disk is full'],
  EDQUOT: ['refused', 'was not written: the disk quota is used up'],
  EXDEV: ['refused', 'lies on another file system: copy it there instead'],
  EBUSY: ['refused', 'is in use by the system: try again'],
  ENFILE: ['refused', 'was not opened: too many files are open. Try again'],
  EMFILE: ['refused', 'was not opened: too many files are open. Try again'],
};
