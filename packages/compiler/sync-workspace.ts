/**
 * Keeps a control plane in step with a workspace: compiles everything, registers what compiles, reports what does not,
 * and retires DAGs that are no longer there. How that reaches the control plane is the registrar's business.
 *
 *   file                          its DAGs
 *   compiles                      registered; unchanged content makes no new version
 *   fails                         stay as they are, with an error beside them: a typo must not stop what runs
 *   gone, or names them no more   stale: their history stays, nothing new is scheduled
 */
import { join, resolve, sep } from 'node:path';
import type { CompiledDag, CompiledUnit } from './compile-unit.ts';
import { compileWorkspace } from './compile-workspace.ts';
import type { Compiler } from './compiler.ts';
import type { Unit } from './discover.ts';
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
  /** Of each unit, the last time it was compiled. */
  outcomes(): readonly UnitOutcome[];
};

export function createWorkspaceSync(input: {
  workspace: string;
  compiler: Compiler;
  registrar: Registrar;
  log: SyncLog;
}): WorkspaceSync {
  const { registrar, log } = input;
  const workspace = resolve(input.workspace);
  /** Errors reported in this process. What a file was filed under can change when svc.yaml becomes readable again. */
  const reported = new Map<string, FileOfBundle & { message: string }>();
  /** By name, before ids were compared: what another file does decides about those. */
  let known = new Map<string, CompiledUnit>();
  const outcomes = new Map<string, UnitOutcome>();
  let last: Promise<unknown> = Promise.resolve();
  let waiting: Promise<SyncSummary> | undefined;

  /** One after the other, or what was read first could be registered last. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const turn = last.then(work);
    last = turn.catch(() => {});
    return turn;
  }

  async function compile(changed?: string): Promise<CompiledUnit[]> {
    const before = known;
    known = new Map();
    return compileWorkspace({
      workspace,
      compiler: input.compiler,
      reuse: (unit) => (changed === undefined || isPartOf(unit, changed) ? undefined : before.get(unit.name)),
      onProgress: ({ latest }) => known.set(latest.unit.name, latest),
    });
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

  async function syncUnit(unit: CompiledUnit): Promise<Pick<SyncSummary, 'registered' | 'failed'>> {
    const { name } = unit.unit;
    const file = { bundleName: unit.bundleName, filename: unit.source };
    outcomes.set(name, { unit });
    for (const warning of unit.warnings) log.warn(`${join(name, warning.file)}: ${warning.message}`);
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

  /** Only what lies in this workspace: others may register DAGs from elsewhere. */
  async function retire(compiled: readonly CompiledUnit[], registered: SyncSummary['registered']): Promise<string[]> {
    const present = new Set(registered.map(({ dagId }) => dagId));
    const failing = new Set(compiled.filter((unit) => !unit.ok).map((unit) => join(unit.unit.root, unit.source)));
    const stale = (await registrar.active())
      .filter(
        ({ dagId, fileloc }) => fileloc.startsWith(workspace + sep) && !present.has(dagId) && !failing.has(fileloc),
      )
      .map(({ dagId }) => dagId);
    if (stale.length > 0) {
      await registrar.markStale(stale);
      log.info(`no longer in the workspace: ${stale.join(', ')}`);
    }
    const names = new Set(compiled.map(({ unit }) => unit.name));
    for (const name of outcomes.keys()) if (!names.has(name)) outcomes.delete(name);
    for (const [name, file] of reported) {
      if (names.has(name)) continue;
      reported.delete(name);
      await registrar.clearError(file);
    }
    return stale;
  }

  async function sync(): Promise<SyncSummary> {
    const compiled = await compile();
    const summary: SyncSummary = { registered: [], failed: [], stale: [] };
    // One after the other: registrations are short, and a thousand at once would only queue for the same connections.
    for (const unit of compiled) {
      const { registered, failed } = await syncUnit(unit);
      summary.registered.push(...registered);
      summary.failed.push(...failed);
    }
    // After a refusal by the control plane nobody knows what is registered; better stale later than stale wrongly.
    const refused = compiled.some((unit) => unit.ok && summary.failed.some(({ name }) => name === unit.unit.name));
    if (!refused) summary.stale = await retire(compiled, summary.registered);
    return summary;
  }

  async function syncOne(path: string): Promise<void> {
    for (const unit of await compile(path)) {
      // Another one's id may have become free, or claimed twice.
      const isAsBefore = outcomes.get(unit.unit.name)?.unit.ok === unit.ok;
      if (isPartOf(unit.unit, path) || !isAsBefore) await syncUnit(unit);
    }
  }

  return {
    syncAll() {
      waiting ??= inTurn(() => {
        waiting = undefined;
        return sync();
      });
      return waiting;
    },
    syncFile: (path) => inTurn(() => syncOne(path)),
    outcomes: () => [...outcomes.values()],
  };
}

/** All files of a project belong to it; a plain DAG file is alone. */
const isPartOf = (unit: Unit, path: string): boolean =>
  unit.kind === 'project' ? path.startsWith(unit.root + sep) : path === unit.path;

const isSame = (a: FileOfBundle, b: FileOfBundle): boolean =>
  a.bundleName === b.bundleName && a.filename === b.filename;
