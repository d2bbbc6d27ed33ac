/**
 * Keeps a control plane in step with a workspace: compiles everything, registers what compiles, reports what does not,
 * and retires DAGs that are no longer there. How that reaches the control plane is the registrar's business.
 *
 *   file                          its DAGs
 *   compiles                      registered; unchanged content makes no new version
 *   fails                         stay as they are, with an error beside them: a typo must not stop what runs
 *   gone, or names them no more   stale: their history stays, nothing new is scheduled
 *
 * Each file is compiled, reported and registered as it is ready: one that takes long, or never ends and is stopped by its time
 * limit, holds up no other. Of one file only what was read last counts, and of one that is gone nothing: files come and go while
 * others are being read, so what is there is what was found last, not what a reading began with.
 */
import { stat } from 'node:fs/promises';
import { join, relative, resolve, sep } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { ValueRead } from '@svc/spec/values-read.ts';
import type { CompiledDag, CompiledUnit } from './compile-unit.ts';
import { compileUnit } from './compile-unit.ts';
import { claimedIds } from './claimed-ids.ts';
import { settleDuplicates } from './compile-workspace.ts';
import type { Compiler } from './compiler.ts';
import type { Unit } from './discover.ts';
import { readHere } from './reading/workspace-reader.ts';
import type { WorkspaceReader } from './reading/workspace-reader.ts';
import { renderProblems } from './render-problems.ts';

export type RegisteredVersion = { versionNumber: number; isNew: boolean };

/** Everything registering wants to know beside the spec. */
export type RegistrableArtifact = CompiledDag & {
  bundleName: string;
  bundleVersion?: string | undefined;
  bundleUrl?: string | undefined;
  /** Absolute path of the DAG file. */
  fileloc: string;
  image?: string | undefined;
  parseSeconds: number;
};

export type FileOfBundle = { bundleName: string; filename: string };

/** The control plane, as far as keeping it in step needs it. */
export type Registrar = {
  /** Also clears the error reported for the artifact's file. Rejects when the control plane refuses it. */
  register(dagId: string, artifact: RegistrableArtifact): Promise<RegisteredVersion>;
  reportError(file: FileOfBundle & { stackTrace: string }): Promise<void>;
  clearError(file: FileOfBundle): Promise<void>;
  /** DAGs that are not stale, with where their files are. */
  active(): Promise<{ dagId: string; fileloc: string }[]>;
  markStale(dagIds: readonly string[]): Promise<void>;
};

export type SyncLog = {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
};

export type SyncSummary = {
  registered: { dagId: string; versionNumber: number; isNew: boolean }[];
  /** Files that do not compile, or whose DAG the control plane refused. */
  failed: { name: string; message: string }[];
  stale: string[];
  /** Files that are still being compiled; only of a summary that was asked for meanwhile. */
  pending?: string[];
};

/** What came of a unit; `refusal` is what the control plane said when it did not take it. */
export type UnitOutcome = { unit: CompiledUnit; refusal?: string };

export type WorkspaceSync = {
  /** Calls made while one is running wait for it and then share one more: what changed meanwhile is not missed. */
  syncAll(): Promise<SyncSummary>;
  /**
   * Only what this file (an absolute path) belongs to, for somebody who waits for the answer. What else it may concern, as
   * files that import it, and what is gone, is left to `syncAll`.
   */
  syncFile(path: string): Promise<void>;
  /** Compiles these units again, by name, because a value that they read has changed. */
  syncUnits(names: ReadonlySet<string>): Promise<void>;
  /** By name of a unit, what it read when it was last compiled; only of those that read something. */
  reads(): ReadonlyMap<string, readonly ValueRead[]>;
  /** Of each unit, the last time it was compiled. */
  outcomes(): readonly UnitOutcome[];
  /** What has come of it so far, and what is still being compiled. */
  soFar(): SyncSummary;
};

/**
 * In a new workspace two files may claim one id. Within this time they are seen together, and neither gets it; later the first
 * has been registered already, and both are refused from then on.
 */
const SEEN_TOGETHER_MS = 1_000;

/** Times of files may be this much older than the clock says, because the system's clock for files ticks. */
const CLOCK_TICK_MS = 20;
/** Limit for files that never come to rest. */
const MOST_READINGS = 5;

/** One reading of a unit. */
type Reading = { compiled: Promise<unknown>; done: Promise<void> };
type UnitSync = Pick<SyncSummary, 'registered' | 'failed'>;

export function createWorkspaceSync(input: {
  workspace: string;
  compiler: Compiler;
  /** Default: this thread, which serves nobody else then. */
  reader?: WorkspaceReader;
  registrar: Registrar;
  log: SyncLog;
}): WorkspaceSync {
  const { registrar, log, reader = readHere } = input;
  const workspace = resolve(input.workspace);
  /** Errors reported in this process. What a file was filed under can change when svc.yaml becomes readable again. */
  const reported = new Map<string, FileOfBundle & { message: string }>();
  /** By name, before ids were compared: what another file does decides about those. */
  const known = claimedIds();
  const outcomes = new Map<string, UnitOutcome>();
  const warned = new Map<string, readonly string[]>();
  /** What was said of plugins, which every file of their repository misses. */
  const warnedOfPlugins = new Set<string>();
  const results = new Map<string, UnitSync>();
  const readings = new Map<string, Reading>();
  const pending = new Set<Unit>();
  /** What there is, in the order of names. */
  let found: readonly Unit[] = [];
  let lastFind: Promise<unknown> = Promise.resolve();
  let lastWrite: Promise<unknown> = Promise.resolve();
  let lastPass: Promise<unknown> = Promise.resolve();
  let waiting: Promise<SyncSummary> | undefined;

  /** One after the other: registrations are short, and a thousand at once would only queue for the same connections. */
  function inTurn<T>(write: () => Promise<T>): Promise<T> {
    const turn = lastWrite.then(write);
    lastWrite = turn.catch(() => {});
    return turn;
  }

  /** `gate` is waited for between compiling and registering. */
  function read(unit: Unit, gate: Promise<unknown> = Promise.resolve()): Reading {
    const { name } = unit;
    pending.add(unit);
    const compiling = compileUnit(input.compiler, unit, reader).finally(() => pending.delete(unit));
    const isNewest = (): boolean => readings.get(name) === reading;
    const register = async (): Promise<void> => {
      const compiled = await compiling;
      if (isNewest()) known.set(name, compiled);
      await gate;
      // Read later, it knows more; and what was read first must not be registered last.
      await (isNewest() ? inTurn(() => settle(name)) : readings.get(name)?.done);
    };
    const reading: Reading = { compiled: compiling, done: register() };
    readings.set(name, reading);
    return reading;
  }

  async function settle(name: string): Promise<void> {
    const { affected, all } = known.around(name);
    for (const unit of settleDuplicates(all)) {
      if (!affected.has(unit.unit.name)) continue;
      const before = outcomes.get(unit.unit.name);
      // Another one's id may have become free, or claimed twice.
      const hasChanged = before !== undefined && dagIdsOf(before.unit) !== dagIdsOf(unit);
      if (unit.unit.name === name || hasChanged) results.set(unit.unit.name, await syncUnit(unit));
    }
  }

  async function registerUnit(unit: Extract<CompiledUnit, { ok: true }>): Promise<SyncSummary['registered']> {
    const registered: SyncSummary['registered'] = [];
    for (const artifact of unit.artifacts) {
      const { versionNumber, isNew } = await registrar.register(artifact.dagId, {
        ...artifact,
        bundleName: unit.bundleName,
        fileloc: join(unit.unit.root, unit.source),
        parseSeconds: unit.seconds,
      });
      if (isNew) log.info(`${artifact.dagId}: registered version ${versionNumber}`);
      registered.push({ dagId: artifact.dagId, versionNumber, isNew });
    }
    return registered;
  }

  async function report(name: string, file: FileOfBundle, message: string): Promise<{ name: string; message: string }> {
    const before = reported.get(name);
    if (before && !isSame(before, file)) await registrar.clearError(before);
    reported.set(name, { ...file, message });
    await registrar.reportError({ ...file, stackTrace: message });
    if (before?.message !== message) log.warn(`${name} does not compile:\n${message}`);
    return { name, message };
  }

  async function clear(name: string, file: FileOfBundle, isRegistered: boolean): Promise<void> {
    const before = reported.get(name);
    reported.delete(name);
    if (before && !isSame(before, file)) await registrar.clearError(before);
    // Registering clears it; a file without DAGs, as helpers are, has nobody to do so.
    if (!isRegistered) await registrar.clearError(file);
  }

  /** Once: a workspace is read again and again, and what is known is no news. */
  function warn({ unit: { name, kind, root }, warnings }: CompiledUnit): void {
    const lines = warnings.flatMap(({ file, line, message }) => {
      if (IS_OF_PLUGIN.test(message)) {
        const text = `${relative(workspace, root) || root}: ${message}`;
        if (!warnedOfPlugins.has(text)) log.warn(text);
        warnedOfPlugins.add(text);
        return [];
      }
      const place = kind === 'project' ? join(name, file) : relative(workspace, join(root, file));
      return `${line === null ? place : `${place}:${line}`}: ${message}`;
    });
    for (const line of lines) if (!warned.get(name)?.includes(line)) log.warn(line);
    warned.set(name, lines);
  }

  async function syncUnit(unit: CompiledUnit): Promise<UnitSync> {
    const { name } = unit.unit;
    const file = { bundleName: unit.bundleName, filename: unit.source };
    outcomes.set(name, { unit });
    warn(unit);
    if (!unit.ok) return { registered: [], failed: [await report(name, file, renderProblems(unit.problems))] };
    try {
      const registered = await registerUnit(unit);
      await clear(name, file, registered.length > 0);
      return { registered, failed: [] };
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      log.error(`${name} cannot be registered: ${message}`);
      outcomes.set(name, { unit, refusal: message });
      return { registered: [], failed: [{ name, message }] };
    }
  }

  /**
   * Marks DAGs as stale that a reading has not found. It began at `since`. Many editors empty a file before they write it,
   * so files that were changed meanwhile are read again first.
   */
  async function retire(since: number): Promise<string[]> {
    for (let begin = since, reading = 1; ; reading += 1) {
      const lastBegin = reading < MOST_READINGS ? begin : Infinity;
      const { stale, changed } = await inTurn(() => retireUnchangedSince(lastBegin));
      if (changed.length === 0) return stale;
      await delay(CLOCK_TICK_MS);
      begin = Date.now();
      for (const file of changed) await syncOne(file);
    }
  }

  /** Retires nothing if a file of a DAG that is gone was changed, and returns such files. */
  async function retireUnchangedSince(time: number): Promise<{ stale: string[]; changed: string[] }> {
    const gone = await missing();
    const files = [...new Set(gone.map(({ fileloc }) => fileloc))];
    const areChanged = await Promise.all(files.map((file) => isChangedSince(time, file)));
    const changed = files.filter((_, index) => areChanged[index]);
    if (changed.length > 0) return { stale: [], changed };
    const stale = gone.map(({ dagId }) => dagId);
    if (stale.length > 0) {
      await registrar.markStale(stale);
      log.info(`no longer in the workspace: ${stale.join(', ')}`);
    }
    const names = new Set(found.map(({ name }) => name));
    for (const name of outcomes.keys()) {
      if (names.has(name)) continue;
      outcomes.delete(name);
      results.delete(name);
    }
    for (const [name, file] of reported) {
      if (names.has(name)) continue;
      reported.delete(name);
      await registrar.clearError(file);
    }
    return { stale, changed };
  }

  /** Returns active DAGs of files in this workspace that do not define them. Others may register DAGs from elsewhere. */
  async function missing(): Promise<{ dagId: string; fileloc: string }[]> {
    // After a refusal by the control plane nobody knows what is registered; better stale later than stale wrongly.
    if (found.some(({ name }) => outcomes.get(name)?.refusal !== undefined)) return [];
    const present = new Set(summaryOf(found).registered.map(({ dagId }) => dagId));
    // Nobody knows what they hold now. One that is gone is not among them, whatever its last reading said.
    const unread = found.filter(({ name }) => outcomes.get(name)?.unit.ok !== true);
    return (await registrar.active()).filter(
      ({ dagId, fileloc }) =>
        fileloc.startsWith(workspace + sep) && !present.has(dagId) && !unread.some((unit) => isPartOf(unit, fileloc)),
    );
  }

  /** One after the other, so that the one that looked last has the last word. */
  function find(): Promise<readonly Unit[]> {
    const turn = lastFind.then(async () => {
      found = await reader.units(workspace);
      const names = new Set(found.map(({ name }) => name));
      for (const name of known.names()) if (!names.has(name)) known.delete(name);
      // Also those under way: what they say of a file that has gone meanwhile is not to be registered.
      for (const name of readings.keys()) if (!names.has(name)) readings.delete(name);
      return found;
    });
    lastFind = turn.catch(() => {});
    return turn;
  }

  const summaryOf = (units: readonly Unit[]): SyncSummary => ({
    registered: units.flatMap(({ name }) => results.get(name)?.registered ?? []),
    failed: units.flatMap(({ name }) => results.get(name)?.failed ?? []),
    stale: [],
  });

  async function sync(): Promise<SyncSummary> {
    const begin = Date.now();
    const units = await find();
    const gate = Promise.withResolvers<void>();
    const begun = units.map((unit) => read(unit, gate.promise));
    const timer = setTimeout(gate.resolve, SEEN_TOGETHER_MS);
    const allCompiled = Promise.allSettled(begun.map(({ compiled }) => compiled));
    void allCompiled.then(() => {
      clearTimeout(timer);
      gate.resolve();
    });
    await Promise.all(begun.map(({ done }) => done));
    const stale = await retire(begin);
    return { ...summaryOf(found), stale };
  }

  /** A module of its repository that it imports, or what says what is installed for all of it. */
  function uses(unit: Unit, path: string): boolean {
    const { repository, root, name } = unit;
    if (!repository || !path.startsWith(root + sep)) return false;
    const file = relative(root, path);
    if (repository.settingsFiles.includes(file)) return true;
    const last = known.get(name);
    // One that does not compile may be waiting for just this.
    return !last?.ok || last.artifacts.some(({ spec }) => spec.source.modules.some((module) => module.path === file));
  }

  async function syncOne(path: string): Promise<void> {
    const units = await find();
    await Promise.all(units.filter((unit) => isPartOf(unit, path) || uses(unit, path)).map((unit) => read(unit).done));
  }

  async function syncUnits(names: ReadonlySet<string>): Promise<void> {
    const begin = Date.now();
    await Promise.all(found.filter(({ name }) => names.has(name)).map((unit) => read(unit).done));
    // A file may define fewer DAGs now.
    await retire(begin);
  }

  return {
    syncAll() {
      if (waiting) return waiting;
      const turn = lastPass.then(() => {
        waiting = undefined;
        return sync();
      });
      lastPass = turn.catch(() => {});
      waiting = turn;
      return turn;
    },
    syncFile: syncOne,
    syncUnits,
    reads() {
      const read = [...known.names()].map((name) => [name, known.get(name)?.reads ?? []] as const);
      return new Map(read.filter(([, reads]) => reads.length > 0));
    },
    outcomes: () => [...outcomes.values()].sort((a, b) => (a.unit.unit.name < b.unit.unit.name ? -1 : 1)),
    soFar: () => ({ ...summaryOf(found), pending: [...pending].map(({ name }) => name) }),
  };
}

const IS_OF_PLUGIN = /^(?:The plugin|plugin) /;

/** All files of a project belong to it; a plain DAG file is alone, or with others in a zip. */
const isPartOf = (unit: Unit, path: string): boolean =>
  unit.kind === 'project'
    ? path.startsWith(unit.root + sep)
    : `${path}${sep}`.startsWith(`${unit.path}${sep}`) || unit.path.startsWith(path + sep);

async function isChangedSince(time: number, path: string): Promise<boolean> {
  const file = await stat(path).catch(() => undefined);
  return file !== undefined && file.ctimeMs >= time - CLOCK_TICK_MS;
}

/** Of one that is refused, nothing. */
const dagIdsOf = (unit: CompiledUnit): string | undefined =>
  unit.ok ? unit.artifacts.map(({ dagId }) => dagId).join('\n') : undefined;

const isSame = (a: FileOfBundle, b: FileOfBundle): boolean =>
  a.bundleName === b.bundleName && a.filename === b.filename;
