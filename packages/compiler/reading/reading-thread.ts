/**
 * A reader of a workspace in a thread of its own: parsing what authors wrote takes nothing from the event loop of a control
 * plane, has memory of its own, and can be stopped. The bounds of each file (limits.ts of @svc/spec) keep it short; this thread is
 * for what they do not foresee, a regular expression of .airflowignore for example.
 *
 *   none ──call──▶ running ──nothing to do for a while──▶ none
 *                     └──a file takes too long, or too much memory──▶ none, and the calls fail with the name of the file
 */
import { extname, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { DiscoverError } from '../discover.ts';
import type { Unit } from '../discover.ts';
import { NOWHERE, PROJECT_FILE } from './unit-problem.ts';
import { unreadProject } from './read-project.ts';
import type { ReadProject } from './read-project.ts';
import { newProgress, progressOf } from './thread-protocol.ts';
import type { Progress, ReadingAnswer, ReadingCall } from './thread-protocol.ts';
import type { WorkspaceReader } from './workspace-reader.ts';

/** In a package it is JavaScript, as this file is then. */
const ENTRY = join(import.meta.dirname, '..', `main${extname(import.meta.filename)}`);
const MEMORY = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 16 };

export type ReadingThreadOptions = {
  /** One file may take this long, on a machine that does much else. */
  fileMs?: number;
  /** A thread without work is ended after this time, and gives its memory back. */
  idleMs?: number;
};

type Waiting = { resolve: (answer: ReadingAnswer) => void; reject: (error: Error) => void };
type Running = { worker: Worker; progress: Progress; waiting: Map<number, Waiting>; watch: NodeJS.Timeout };

export function createReadingThread({ fileMs = 30_000, idleMs = 10_000 }: ReadingThreadOptions = {}): WorkspaceReader {
  let running: Running | undefined;
  let nextId = 1;
  let idle: NodeJS.Timeout | undefined;

  function start(): Running {
    const progress = newProgress();
    const worker = new Worker(ENTRY, { workerData: { progress }, resourceLimits: MEMORY });
    const waiting = new Map<number, Waiting>();
    let last = { count: -1, at: Date.now() };
    const watch = setInterval(
      () => {
        const { count } = progressOf(progress);
        // Before its first file it is starting, which takes seconds on a machine that does much else.
        if (waiting.size === 0 || count === 0 || count !== last.count) last = { count, at: Date.now() };
        else if (Date.now() - last.at >= fileMs) end(started, `reading it took more than ${fileMs / 1_000} s`);
      },
      Math.min(1_000, fileMs / 4),
    );
    watch.unref();
    const started: Running = { worker, progress, waiting, watch };
    worker.on('message', (answer: ReadingAnswer) => {
      waiting.get(answer.id)?.resolve(answer);
      waiting.delete(answer.id);
      if (waiting.size === 0) rest(started);
    });
    worker.on('error', (error: NodeJS.ErrnoException) => {
      const isMemory = error.code === 'ERR_WORKER_OUT_OF_MEMORY';
      end(started, isMemory ? `reading it took more than ${MEMORY.maxOldGenerationSizeMb} MiB` : error.message);
    });
    worker.on('exit', () => end(started, 'the thread that read it has ended'));
    return started;
  }

  function end(ended: Running, reason: string): void {
    clearInterval(ended.watch);
    if (running === ended) running = undefined;
    const { path } = progressOf(ended.progress);
    const message = `${path === '' ? 'the workspace' : path} cannot be read: ${reason}`;
    for (const { reject } of ended.waiting.values()) reject(new Error(message));
    ended.waiting.clear();
    void ended.worker.terminate();
  }

  /** It keeps no program alive, and goes when nothing has been asked for a while. */
  function rest(resting: Running): void {
    resting.worker.unref();
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (resting.waiting.size === 0) end(resting, 'it was idle');
    }, idleMs);
    idle.unref();
  }

  function ask(call: ReadingCall['of']): Promise<ReadingAnswer> {
    clearTimeout(idle);
    running ??= start();
    const { worker, waiting } = running;
    worker.ref();
    const id = nextId++;
    return new Promise((resolve, reject) => {
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, of: call } satisfies ReadingCall, []);
    });
  }

  return {
    async units(path): Promise<Unit[]> {
      const answer = await ask({ kind: 'units', path });
      if (answer.kind === 'units') return answer.units;
      throw failureOf(answer);
    },
    async project({ path, root }): Promise<ReadProject> {
      try {
        const answer = await ask({ kind: 'project', unit: { path, root } });
        if (answer.kind === 'project') return answer.read;
        throw failureOf(answer);
      } catch (error) {
        // A project that cannot be read is a problem of that project, and of no other.
        const { message } = error as Error;
        return unreadProject(root, { ...NOWHERE, file: PROJECT_FILE, message, instead: 'Make the file simpler' });
      }
    },
    async close() {
      clearTimeout(idle);
      const last = running;
      if (!last) return;
      end(last, 'the program ends');
      await last.worker.terminate();
    },
  };
}

const failureOf = (answer: ReadingAnswer): Error => {
  if (answer.kind !== 'failed') return new Error(`an answer of another kind: ${answer.kind}`);
  return answer.isDiscovery ? new DiscoverError(answer.message) : new Error(answer.message);
};
