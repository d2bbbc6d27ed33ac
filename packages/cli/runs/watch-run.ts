/** Looks at a run until it has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunFinished } from '@svc/spec/states.ts';
import type { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { instancesPath, runPath } from './fields.ts';
import type { Instance, Run } from './fields.ts';
import { createPatience } from './patience.ts';
import type { Snapshot } from './task-lines.ts';
import { whyQueued } from './why-queued.ts';

export type Watch = {
  readonly clientOf: () => Promise<Client>;
  readonly dagId: string;
  readonly runId: string;
  /** Told of every look; without it only the last one fetches the tasks. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** The control plane does not answer; it is asked again. */
  readonly onOutage?: (error: CliError) => void;
  readonly signal?: AbortSignal;
};

const LOOK_EVERY_MS = 500;
/** A run of ten thousand tasks takes a while to read: no more than a fifth of the time is spent on it. */
const REST_PER_LOOK = 4;

/** Resolves with the run as it ended. Rejects when the run is gone, or the control plane is, or `signal` says so. */
export async function watchRun(watch: Watch): Promise<Snapshot> {
  const { onSnapshot, onOutage, signal } = watch;
  const patience = createPatience();
  for (;;) {
    signal?.throwIfAborted();
    const startedAt = performance.now();
    try {
      const snapshot = await look(watch);
      patience.answered();
      onSnapshot?.(snapshot);
      if (isRunFinished(snapshot.run.state)) return snapshot;
    } catch (error) {
      const outage = patience.orThrow(error);
      onOutage?.(outage);
    }
    const took = performance.now() - startedAt;
    await sleep(Math.max(LOOK_EVERY_MS, took * REST_PER_LOOK), undefined, signal && { signal }).catch(() => {});
  }
}

/** The run before its tasks: a run that has ended has tasks that have. */
async function look({ clientOf, dagId, runId, onSnapshot }: Watch): Promise<Snapshot> {
  const client = await clientOf();
  const run = await client.get<Run>(runPath({ dagId, runId }));
  const isWanted = onSnapshot !== undefined || isRunFinished(run.state);
  const instances = isWanted ? await instancesOf(client, run) : [];
  return { run, instances, waitReason: isWanted ? await whyQueued(client, run) : null, at: Date.now() };
}

/** While a mapped task is expanded rows move from page to page: each counts once. */
export async function instancesOf(client: Client, run: Pick<Run, 'dag_id' | 'dag_run_id'>): Promise<Instance[]> {
  const path = instancesPath({ dagId: run.dag_id, runId: run.dag_run_id });
  const found = await client.list<Instance>(path, 'task_instances');
  return [...new Map(found.map((instance) => [instance.id, instance])).values()];
}
