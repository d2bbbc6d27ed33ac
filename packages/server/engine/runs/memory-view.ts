/** The view of a run that is planned before it is stored: every instance is in memory. */
import { NO_FAILURE, failureColumns } from '@svc/spec/failure-causes.ts';
import type { FailureColumns } from '@svc/spec/failure-causes.ts';
import type { SharedDb } from '../../db/database.ts';
import { loadLength, loadPast } from '../advance/external-needs.ts';
import type { Change, Instance, InstanceKey, MappedLength, Need, RunView } from '../plan/types.ts';
import type { RunWork } from '../advance/run-work.ts';

export type MemoryView = RunView & {
  apply(changes: readonly Change[]): void;
  load(trx: SharedDb, work: RunWork, needs: readonly Need[]): Promise<void>;
  all(): { instance: Instance; failure: FailureColumns; waits: string | null }[];
};

const keyOf = ({ taskId, mapIndex }: InstanceKey): string => `${mapIndex}/${taskId}`;
const lengthKey = (need: { taskId: string; key: string; mapIndex: number | null }): string =>
  `${need.mapIndex}/${need.key}/${need.taskId}`;

export function createMemoryView(initial: readonly Instance[]): MemoryView {
  const instances = new Map(initial.map((instance) => [keyOf(instance), instance]));
  const byTask = new Map<string, Instance[]>();
  for (const instance of initial) {
    const known = byTask.get(instance.taskId);
    if (known) known.push(instance);
    else byTask.set(instance.taskId, [instance]);
  }
  const lengths = new Map<string, MappedLength>();
  const pasts = new Map<string, boolean>();
  const failures = new Map<string, FailureColumns>();
  const waits = new Map<string, string | null>();

  function applyOne(change: Change): void {
    if (change.kind !== 'update') {
      if (change.kind === 'expand') instances.delete(keyOf({ taskId: change.taskId, mapIndex: -1 }));
      for (const { waits: reason, ...instance } of change.instances) {
        const key = keyOf({ taskId: change.taskId, mapIndex: instance.mapIndex });
        if (reason) waits.set(key, reason);
        instances.set(key, {
          ...instance,
          taskId: change.taskId,
          skips: null,
        });
      }
      return;
    }
    const key = keyOf(change);
    const before = instances.get(key);
    if (!before) throw new Error(`instance ${key} was planned but is not there`);
    instances.set(key, {
      ...before,
      ...(change.state !== undefined && { state: change.state }),
      ...(change.upstream && { upstream: change.upstream }),
    });
    if (change.waits !== undefined) waits.set(key, change.waits);
    if (change.failure) failures.set(key, failureColumns(change.failure.cause, change.failure.text));
  }

  return {
    instance: (key) => instances.get(keyOf(key)) ?? null,
    instances: (taskId) => byTask.get(taskId) ?? [],
    length: (need) => lengths.get(lengthKey(need)),
    past: (key) => pasts.get(keyOf(key)),
    apply: (changes) => changes.forEach(applyOne),
    async load(trx, work, needs) {
      for (const need of needs) {
        if (need.kind === 'length') lengths.set(lengthKey(need), await loadLength(trx, work, need));
        else if (need.kind === 'past') pasts.set(keyOf(need), await loadPast(trx, work, need));
        else throw new Error(`${need.kind} ${need.taskId} was asked for although everything is at hand`);
      }
    },
    all: () =>
      [...instances].map(([key, instance]) => ({
        instance,
        failure: failures.get(key) ?? NO_FAILURE,
        waits: waits.get(key) ?? null,
      })),
  };
}
