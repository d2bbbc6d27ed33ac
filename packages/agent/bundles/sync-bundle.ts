/**
 * One sync of a bundle, as a process of its own. The control plane starts it, and takes what it sends only as a whole
 * (packages/proto/bundle-job.ts).
 *
 *   find the version ──the same as before──▶ unchanged
 *        └──▶ fetch ──▶ check ──▶ check out ──▶ compile ──▶ end
 *                          └──▶ refused
 */
import { chmodSync, existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { HOME } from '@svc/proto/bundle-job.ts';
import type { BundleAnswer, BundleJob, BundleMessage, BundleTaken, BundleUpload } from '@svc/proto/bundle-job.ts';
import type { AnswerValue, AnsweredValue } from '@svc/spec/values-read.ts';
import {
  RefusedVersion,
  checkCommit,
  checkLinks,
  checkOut,
  keepTree,
  makeFolder,
  removeOldTrees,
  treeFolder,
  workFolder,
} from './checkout.ts';
import { compileBundle } from './compile-bundle.ts';
import { fetchCommit, findRemoteCommit, readCommit } from './fetch-commit.ts';
import type { RemoteCommit } from './fetch-commit.ts';
import { readFolder } from './folder-source.ts';
import { SourceError, createGit } from './git.ts';
import type { Git } from './git.ts';
import { sendArchive } from './send-archive.ts';

type Environment = Readonly<Record<string, string | undefined>>;
type Send = (message: BundleMessage) => void;

const SHOWN_VERSION = 12;

export async function syncBundle(input: { stdin: Readable; stdout: Writable; env: Environment }): Promise<number> {
  const children = new Set<() => void>();
  const line = createLine(input, () => {
    for (const kill of children) kill();
    process.exit(1);
  });
  const job = await line.job;
  const onChild = (kill: () => void): (() => void) => {
    children.add(kill);
    return () => children.delete(kill);
  };
  try {
    makeCache(job);
    await makeFolder(job, join(job.cache, 'trees'));
    if (job.kind === 'git') await syncGit(job, { ...line, env: input.env, onChild });
    else await syncFolder(job, { ...line, env: input.env });
  } catch (error) {
    if (!(error instanceof SourceError)) throw error;
    line.send({ kind: 'failed', message: error.message });
  }
  line.send({ kind: 'end' });
  await line.flushed();
  return 0;
}

/** The folders above belong to the control plane. The user of git and author code may pass through them. */
function makeCache({ cache, taskUser }: BundleJob): void {
  const tenant = dirname(cache);
  mkdirSync(cache, { recursive: true, mode: 0o750 });
  if (taskUser) for (const folder of [dirname(tenant), tenant]) chmodSync(folder, 0o711);
}

type Upload = (message: BundleUpload) => Promise<readonly string[]>;
type Parts = { send: Send; answerValue: AnswerValue; upload: Upload; env: Environment };

async function syncGit(
  job: BundleJob,
  { onChild, ...parts }: Parts & { onChild: (kill: () => void) => () => void },
): Promise<void> {
  const { send, env } = parts;
  const repository = join(job.cache, 'git');
  const knownHosts = join(job.cache, 'known_hosts');
  const { url, credentials, taskUser: user, limits } = job;
  using git = createGit({
    repository,
    home: join(job.cache, HOME),
    url,
    credentials,
    knownHosts,
    user,
    limits,
    env,
    onChild,
  });
  send({ kind: 'progress', text: 'looking for the newest commit' });
  const commit = await findRemoteCommit(git, job);
  await restoreCurrent(git, { job, repository });
  if (commit.version === job.seen) return send({ kind: 'unchanged', version: commit.version });
  send({ kind: 'progress', text: `fetching ${commit.version.slice(0, SHOWN_VERSION)}` });
  try {
    await fetchCommit(git, { job, repository, commit });
    const facts = await readCommit(git, commit.version);
    const tree = treeFolder(job, commit.version);
    send({ kind: 'commit', version: commit.version, ...facts, root: tree });
    const links = await placeFiles(git, { job, version: commit.version, send });
    await compileAndKeep(job, { ...parts, version: commit.version, tree, links });
  } catch (error) {
    if (!(error instanceof RefusedVersion)) throw error;
    send({ kind: 'refused', version: commit.version, file: error.file, message: error.message });
  }
}

/** Checks the commit and checks it out. Returns its links. */
async function placeFiles(
  git: Git,
  { job, version, send }: { job: BundleJob; version: string; send: Send },
): Promise<string[]> {
  const { submodules, links } = await checkCommit(git, { version, folder: job.folder, limits: job.limits });
  if (submodules.length > 0)
    send({ kind: 'progress', text: `left out submodules: ${submodules.slice(0, 5).join(', ')}` });
  send({ kind: 'progress', text: 'checking out' });
  checkLinks(await checkOut(git, job, version), links);
  return links;
}

/** The files of the current deployment may have been lost with the disk of another host. */
async function restoreCurrent(git: Git, { job, repository }: { job: BundleJob; repository: string }): Promise<void> {
  const { current } = job;
  if (!current || existsSync(current.root) || current.root !== treeFolder(job, current.version)) return;
  const commit: RemoteCommit = { version: current.version, ref: current.version };
  try {
    await fetchCommit(git, { job, repository, commit });
    await placeFiles(git, { job, version: current.version, send: () => {} });
    await keepTree(job, current.version);
  } catch (error) {
    // The commit may be gone from the source. The next deployment replaces it.
    if (!(error instanceof SourceError) && !(error instanceof RefusedVersion)) throw error;
  }
}

async function syncFolder(job: BundleJob, parts: Parts): Promise<void> {
  const { send } = parts;
  send({ kind: 'progress', text: 'reading the folder' });
  try {
    const { version, isCopied, links } = await readFolder(job);
    if (!isCopied || version === job.seen) return send({ kind: 'unchanged', version });
    const tree = treeFolder(job, version);
    send({ kind: 'commit', version, author: '', message: '', committedAt: null, root: tree });
    await compileAndKeep(job, { ...parts, version, tree, links });
  } catch (error) {
    if (!(error instanceof RefusedVersion)) throw error;
    send({ kind: 'refused', version: '', file: error.file, message: error.message });
  }
}

async function compileAndKeep(
  job: BundleJob,
  { version, tree, links, ...parts }: Parts & { version: string; tree: string; links: readonly string[] },
): Promise<void> {
  const work = workFolder(job);
  checkLinks(work, links);
  // Compiling mostly waits for Python.
  await Promise.all([compileBundle({ ...parts, job, work, tree }), sendArchive(work, parts.upload)]);
  await keepTree(job, version);
  removeOldTrees({ ...job, keep: [...job.keep, ...(job.current ? [job.current.root] : [])] }, tree);
}

/** Reads the job and answers from the input, and writes messages to the output. `onGone`: the control plane has ended. */
function createLine(
  { stdin, stdout }: { stdin: Readable; stdout: Writable },
  onGone: () => void,
): { job: Promise<BundleJob>; send: Send; answerValue: AnswerValue; upload: Upload; flushed(): Promise<void> } {
  const { promise: job, resolve } = Promise.withResolvers<BundleJob>();
  const waiting = new Map<number, (answer: AnsweredValue) => void>();
  const uploading = new Map<number, (missing: readonly string[]) => void>();
  let nextId = 1;
  let isFirst = true;
  const lines = createInterface({ input: stdin });
  lines.on('line', (text) => {
    if (isFirst) {
      isFirst = false;
      return resolve(JSON.parse(text) as BundleJob);
    }
    const reply = JSON.parse(text) as BundleAnswer | BundleTaken;
    if ('missing' in reply) uploading.get(reply.id)?.(reply.missing);
    else waiting.get(reply.id)?.(reply.answer);
    uploading.delete(reply.id);
    waiting.delete(reply.id);
  });
  lines.on('close', onGone);
  const send: Send = (message) => void stdout.write(`${JSON.stringify(message)}\n`);
  return {
    job,
    send,
    answerValue: (value) =>
      new Promise((answered) => {
        const id = nextId++;
        waiting.set(id, answered);
        send({ kind: 'ask', id, value });
      }),
    upload: (message) =>
      new Promise((taken) => {
        const id = nextId++;
        uploading.set(id, taken);
        send({ ...message, id });
      }),
    flushed: () => new Promise((done) => void stdout.write('', () => done())),
  };
}
