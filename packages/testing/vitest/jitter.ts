/**
 * Loaded before anything else (`--import`) where SVC_TEST_JITTER is set. Delays at random what arrives, is sent and is due in
 * this process and in the Node processes that it starts. A test or a product that relies on the time or the order of
 * unordered events then fails on a quick machine, too. `npm run test:repeat -- 1 --jitter 7 <file>` sets the variable.
 *
 * What Node promises stays true: the bytes of a stream stay in order, a timer is never early, and a file operation that has
 * resolved has happened. A delay holds up one stream, process or operation; all others continue.
 */
import { ChildProcess } from 'node:child_process';
import fs from 'node:fs';
import { Server } from 'node:http';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import { basename, join } from 'node:path';
import { Readable } from 'node:stream';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { JITTER_ARGUMENTS, JITTER_LOG_VARIABLE, JITTER_VARIABLE } from '../node-arguments.ts';

const SHORT = { part: 0.1, fromMs: 1, toMs: 30 };
const LONG = { part: 0.04, fromMs: 50, toMs: 1_500 };
/** After a long delay, no other of its kind begins in the process for so many times its length, so that work gets done. */
const REST = 3;
const FUNCTIONS_OF_FILES = ['mkdir', 'open', 'readFile', 'readdir', 'rename', 'rm', 'stat', 'writeFile'] as const;

type Done = (error?: Error | null) => void;
/** The members that these classes have in addition to their documented ones. */
type Streams = Readable & { session?: object };
type Sockets = Socket & { _isStdio?: boolean; server?: object; _handle?: { _consumed?: boolean } | null };
type ServerPrototype = { emit: (this: Server, name: string, ...event: Sockets[]) => boolean };
type SocketPrototype = {
  _write: (this: Sockets, data: string | Uint8Array, encoding: BufferEncoding, done: Done) => void;
  _writev: (this: Sockets, chunks: { chunk: string | Uint8Array }[], done: Done) => void;
};
type Children = ChildProcess & { _handle: { onexit: (...how: (number | string)[]) => void } };
type ChildPrototype = {
  spawn: (this: Children, how: { file: string; envPairs: string[] }) => number;
  emit: (this: Children, ...event: Parameters<ChildProcess['emit']>) => boolean;
};
type Kind = 'received' | 'sent' | 'ended' | 'message' | 'file' | 'timer';
/** Returns for how many milliseconds to delay something; most often 0. */
type Draw = (kind: Kind, what: () => string) => number;

const laterOn = globalThis.setTimeout;
const { appendFileSync } = fs;
const seed = process.env[JITTER_VARIABLE];
if (seed !== undefined && seed !== '') begin(seed, process.env[JITTER_LOG_VARIABLE] ?? '');

function begin(seed: string, logFolder: string): void {
  const program = basename(process.argv[1] ?? 'node');
  // The product and what it starts see the environment that they would see otherwise.
  delete process.env[JITTER_VARIABLE];
  delete process.env[JITTER_LOG_VARIABLE];
  const nodeOptions = process.env['NODE_OPTIONS']?.replace(JITTER_ARGUMENTS.join(' '), '').trim();
  if (nodeOptions === '') delete process.env['NODE_OPTIONS'];
  else if (nodeOptions !== undefined) process.env['NODE_OPTIONS'] = nodeOptions;

  const random = randomFrom(`${seed} ${program}`);
  const restUntil = new Map<Kind, number>();
  const draw: Draw = (kind, what) => {
    const drawn = random();
    const length = drawn < LONG.part ? LONG : SHORT;
    if (drawn >= LONG.part + SHORT.part || (length === LONG && performance.now() < (restUntil.get(kind) ?? 0)))
      return 0;
    const ms = Math.round(length.fromMs * (length.toMs / length.fromMs) ** random());
    if (length === SHORT) return ms;
    restUntil.set(kind, performance.now() + ms * (1 + REST));
    if (logFolder !== '') {
      const line = `${new Date().toISOString()} ${process.pid} ${program} ${ms} ms ${kind} ${what()}\n`;
      appendFileSync(join(logFolder, `${process.pid}.log`), line);
    }
    return ms;
  };
  delayStreams(draw);
  delayChildren(draw, { [JITTER_VARIABLE]: seed, [JITTER_LOG_VARIABLE]: logFolder });
  delayFiles(draw);
  delayTimers(draw);
  syncBuiltinESMExports();
}

/** Numbers from 0 to 1 (mulberry32). */
function randomFrom(text: string): () => number {
  let state = [...text].reduce((hash, letter) => Math.imul(hash ^ letter.charCodeAt(0), 16_777_619), 2_166_136_261);
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What is held back of each owner. Later actions of the same owner wait behind it. */
const heldBack = new WeakMap<object, (() => void)[]>();

function inOrder(owner: object, ms: number, act: () => void): void {
  const waiting = heldBack.get(owner);
  if (waiting !== undefined) {
    waiting.push(act);
  } else if (ms === 0) {
    act();
  } else {
    const line = [act];
    heldBack.set(owner, line);
    laterOn(() => release(owner, line), ms);
  }
}

function release(owner: object, line: (() => void)[]): void {
  const act = line.shift();
  if (act === undefined) return void heldBack.delete(owner);
  try {
    act();
  } finally {
    process.nextTick(release, owner, line);
  }
}

function delayStreams(draw: Draw): void {
  const { push } = Readable.prototype;
  Readable.prototype.push = function (this: Streams, chunk: Buffer | null, encoding?: BufferEncoding): boolean {
    if (!(this instanceof Socket) && !this.constructor.name.endsWith('Http2Stream')) {
      return push.call(this, chunk, encoding);
    }
    // Node closes a stream of HTTP/2 in the same turn as it ends, so only its data may be late.
    const ms = chunk === null && !(this instanceof Socket) ? 0 : draw('received', () => shown(chunk));
    let wantsMore = true;
    // The streams of an HTTP/2 session share a connection, which keeps their order.
    inOrder(this.session ?? this, ms, () => {
      if (this.destroyed) return;
      wantsMore = push.call(this, chunk, encoding);
      if (chunk === null) this.read(0); // As Node does, so that a stream without a reader ends.
    });
    return wantsMore;
  };
  // Without this mark, a server of HTTP reads from the system and not from the stream.
  const servers = Server.prototype as unknown as ServerPrototype;
  const { emit } = servers;
  servers.emit = function (name, ...event) {
    if (name === 'connection' && event[0]?._handle) event[0]._handle._consumed = true;
    return emit.call(this, name, ...event);
  };
  delayWrites(draw);
}

const isExempt = (socket: Sockets): boolean => socket._isStdio === true || Boolean(socket.server);

/**
 * Of sockets that connected, and of pipes. A server closes idle connections by `destroy` when it has written an answer: the
 * system has it then, but not if it is held back here. So clients of tests delay the answers when they receive them.
 */
function delayWrites(draw: Draw): void {
  const prototype = Socket.prototype as unknown as SocketPrototype;
  const { _write, _writev } = prototype;
  prototype._write = function (data, encoding, done) {
    const ms = isExempt(this) ? 0 : draw('sent', () => shown(data));
    if (ms === 0) _write.call(this, data, encoding, done);
    else laterOn(() => (this.destroyed ? done() : _write.call(this, data, encoding, done)), ms);
  };
  prototype._writev = function (chunks, done) {
    const ms = isExempt(this) ? 0 : draw('sent', () => shown(chunks[0]?.chunk));
    if (ms === 0) _writev.call(this, chunks, done);
    else laterOn(() => (this.destroyed ? done() : _writev.call(this, chunks, done)), ms);
  };
}

const shown = (data: string | Uint8Array | null | undefined): string =>
  data === null || data === undefined ? 'the end' : JSON.stringify(Buffer.from(data).toString('latin1', 0, 80));

const isOptions = (pair: string): boolean => pair.startsWith('NODE_OPTIONS=');

function delayChildren(draw: Draw, variables: Record<string, string>): void {
  const prototype = ChildProcess.prototype as unknown as ChildPrototype;
  const { spawn, emit } = prototype;
  prototype.spawn = function (how) {
    const isNode = how.file === process.execPath || basename(how.file).startsWith('svc');
    if (isNode && !how.envPairs.some((pair) => pair.startsWith(`${JITTER_VARIABLE}=`))) {
      const options = `${how.envPairs.find(isOptions) ?? 'NODE_OPTIONS='} ${JITTER_ARGUMENTS.join(' ')}`;
      const added = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
      how.envPairs = [...how.envPairs.filter((pair) => !isOptions(pair)), options, ...added];
    }
    const result = spawn.call(this, how);
    const { onexit: ended } = this._handle;
    const late: typeof ended = (...end) => {
      const ms = draw('ended', () => `${how.file} ${this.pid}`);
      if (ms === 0) ended(...end);
      else laterOn(() => ended(...end), ms);
    };
    Object.assign(this._handle, { onexit: late });
    return result;
  };
  prototype.emit = function (name, ...event) {
    if (!['message', 'disconnect'].includes(String(name))) return emit.call(this, name, ...event);
    inOrder(
      this,
      draw('message', () => `of ${this.pid}`),
      () => emit.call(this, name, ...event),
    );
    return true;
  };
}

function delayFiles(draw: Draw): void {
  const files = fs.promises as unknown as Record<string, (...args: unknown[]) => Promise<unknown>>;
  for (const name of FUNCTIONS_OF_FILES) {
    const original = files[name];
    if (original === undefined) continue;
    files[name] = async (...args) => {
      const before = draw('file', () => `before ${name} ${String(args[0])}`);
      if (before > 0) await new Promise((resolve) => laterOn(resolve, before));
      const result = await original(...args);
      const after = draw('file', () => `after ${name} ${String(args[0])}`);
      if (after > 0) await new Promise((resolve) => laterOn(resolve, after));
      return result;
    };
  }
}

function delayTimers(draw: Draw): void {
  const late = (ms: number | undefined): number => (ms ?? 0) + draw('timer', () => `of ${ms} ms`);
  const setTimeout = (act: (...args: unknown[]) => void, ms?: number, ...args: unknown[]): NodeJS.Timeout =>
    laterOn(act, late(ms), ...args);
  Object.defineProperties(setTimeout, Object.getOwnPropertyDescriptors(laterOn));
  globalThis.setTimeout = setTimeout as typeof globalThis.setTimeout;
  timers.setTimeout = globalThis.setTimeout;
  const { setTimeout: sleep } = timersPromises;
  timersPromises.setTimeout = (ms, ...rest) => sleep(late(ms), ...rest);
}
