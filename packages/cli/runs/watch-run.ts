/** Polls a run until it has ended. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { DagRun, TaskInstance } from '@svc/client/wire-types.ts';
import { isRunFinished } from '@svc/spec/states.ts';
import type { CliError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import type { Snapshot } from './task-lines.ts';
import { throughOutages } from './through-outages.ts';
import { whyQueued } from './why-queued.ts';

export type Watch = {
  readonly clientOf: () => Promise<Client>;
  readonly dagId: string;
  readonly runId: string;
  /** Receives every snapshot. Without it, only the last poll reads the tasks. */
  readonly onSnapshot?: (snapshot: Snapshot) => void;
  /** Called when the control plane does not answer. The poll is retried. */
  readonly onOutage?: (error: CliError) => void;
  readonly signal?: AbortSignal;
};

const LOOK_EVERY_MS = 500;
/** Reading a run with ten thousand tasks takes a while, so polls use at most a fifth of the time. */
const REST_PER_LOOK = 4;

/**
 * Resolves with the ended run. Rejects if the run is deleted, if the control plane stays unreachable, or if `signal`
 * aborts.
 */
export async function watchRun(watch: Watch): Promise<Snapshot> {
  const { onSnapshot, onOutage, signal } = watch;
  for (;;) {
    const { snapshot, tookMs } = await throughOutages(() => timed(() => look(watch)), {
      pauseMs: restAfter,
      onOutage,
      signal,
    });
    onSnapshot?.(snapshot);
    if (isRunFinished(snapshot.run.state)) return snapshot;
    await sleep(restAfter(tookMs), undefined, signal && { signal }).catch(() => {});
  }
}

const restAfter = (tookMs: number): number => Math.max(LOOK_EVERY_MS, tookMs * REST_PER_LOOK);

async function timed(work: () => Promise<Snapshot>): Promise<{ snapshot: Snapshot; tookMs: number }> {
  const startedAt = performance.now();
  const snapshot = await work();
  return { snapshot, tookMs: performance.now() - startedAt };
}

/** Reads the run before its tasks, because the tasks of an ended run have ended as well. */
async function look({ clientOf, dagId, runId, onSnapshot }: Watch): Promise<Snapshot> {
  const client = await clientOf();
  const path = { dag_id: dagId, dag_run_id: runId };
  const run = await client.get('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}', { path });
  const isWanted = onSnapshot !== undefined || isRunFinished(run.state);
  const instances = isWanted ? await instancesOf(client, run) : [];
  return { run, instances, waitReason: isWanted ? await whyQueued(client, run) : null, at: Date.now() };
}

/** Expansion of a mapped task moves rows between pages, so each instance is counted once. */
export async function instancesOf(client: Client, run: Pick<DagRun, 'dag_id' | 'dag_run_id'>): Promise<TaskInstance[]> {
  const found = await client.list('/api/v2/dags/{dag_id}/dagRuns/{dag_run_id}/taskInstances', 'task_instances', {
    path: { dag_id: run.dag_id, dag_run_id: run.dag_run_id },
  });
  return [...new Map(found.map((instance) => [instance.id, instance])).values()];
}
