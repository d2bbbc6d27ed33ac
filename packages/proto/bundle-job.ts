/**
 * What a control plane and the process that syncs a bundle send each other, one JSON document per line.
 *
 *   control plane ──job──▶ process          on its standard input, first line
 *   process ──BundleMessage──▶              on its standard output: progress …, commit, dag or broken …, end
 *   process ──ask──▶ ◀──BundleAnswer──      a value that a DAG file reads while it loads
 *   process ──tree, part …──▶ ◀──BundleTaken──   files of the commit, of which the control plane takes one at a time
 *
 * The control plane takes nothing before `end`. A process that dies has therefore changed nothing. When its input ends,
 * the control plane is gone, and the process ends itself.
 */
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import type { AnsweredValue, AskedValue, ValueRead } from '@svc/spec/values-read.ts';
import type { TreeEntry } from './code-archive.ts';
import type { TaskUser } from './task-user.ts';

/** Only the process of git that opens the repository receives them, in its environment. */
export type GitCredentials = {
  username: string;
  password: string;
  /** An OpenSSH private key. Empty: none. */
  privateKey: string;
  /** Lines of `known_hosts`. Empty: the key that the host shows first is kept, and must not change. */
  knownHosts: string;
};

/** In the cache of a bundle: the home of git while a sync runs. */
export const HOME = 'home';

export type BundleLimits = {
  /** One file, and one pack that git receives holds at most `totalBytes`. */
  fileBytes: number;
  totalBytes: number;
  files: number;
  memoryBytes: number;
};

export type BundleJob = {
  name: string;
  kind: 'git' | 'folder';
  url: string;
  /** A branch or tag. Empty: the default branch. */
  ref: string;
  /** The DAGs are below this folder of the source. Empty: in the source itself. */
  folder: string;
  credentials: GitCredentials | null;
  /** The bundle's own folder in the cache. */
  cache: string;
  /** The version that was looked at last. The process compiles only another one. Null: compiles in any case. */
  seen: string | null;
  /** The current deployment. Its files must be on this host. */
  current: { version: string; root: string } | null;
  /** Roots of older deployments whose files are kept. */
  keep: readonly string[];
  /** By id of a DAG that the bundle has: the hash of its content. Its spec is sent only when it differs. */
  known: Readonly<Record<string, string>>;
  /** Tasks run on other hosts or in images, so packages that are missing here are only a warning. */
  runsElsewhere: boolean;
  /** The user that git and author code run as. Null: the user of this process. */
  taskUser: TaskUser | null;
  limits: BundleLimits;
};

export type CompiledBundleDag = {
  kind: 'dag';
  dagId: string;
  hash: string;
  /** The path of its file in the bundle. */
  file: string;
  /** The path of its file below the folder that its tasks import from. */
  source: string;
  /** The absolute path of its file. */
  fileloc: string;
  seconds: number;
  warnings: readonly string[];
  differences: readonly string[];
  reads: readonly ValueRead[];
  providers?: readonly ReportedProvider[] | undefined;
  /** Absent when the control plane has this content. */
  spec?: object;
};

export type BundleCommit = {
  kind: 'commit';
  version: string;
  author: string;
  message: string;
  /** ISO 8601. Null for a folder. */
  committedAt: string | null;
  /** Where the files of this version are. */
  root: string;
};

/** What the process sends for the archive. `data`: compressed, in base64. */
export type BundleUpload =
  | { kind: 'tree'; entries: readonly TreeEntry[] }
  | { kind: 'part'; hash: string; part: number; data: string }
  | { kind: 'tree_sent' };

export type BundleMessage =
  | { kind: 'progress'; text: string }
  | { kind: 'ask'; id: number; value: AskedValue }
  | (BundleUpload & { id: number })
  | BundleCommit
  | CompiledBundleDag
  /** A file that does not compile. `source`: the DAG file that it belongs to. `text`: the whole report for people. */
  | { kind: 'broken'; file: string; source: string; line: number | null; message: string; text: string }
  /** The source has the version that was seen before. */
  | { kind: 'unchanged'; version: string }
  /** The version is refused as a whole, and the next poll does not look at it again. */
  | { kind: 'refused'; version: string; file: string; message: string }
  /** The source cannot be read now. The next poll tries again. */
  | { kind: 'failed'; message: string }
  | { kind: 'end' };

export type BundleAnswer = { id: number; answer: AnsweredValue };
/** `missing`: after `tree`, the hashes of the files that are to be sent. */
export type BundleTaken = { id: number; missing: readonly string[] };
