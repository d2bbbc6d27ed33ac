/** The pool of each task of a version: computed once per version, and cached while the version is used. */
import { versionKey } from '../../../engine/shared/dag-graphs.ts';
import type { VersionRef } from '../../../engine/shared/dag-graphs.ts';
import { createLoadCache } from '../../../engine/shared/load-cache.ts';
import type { ReadPodFacts, TaskPodFacts, VersionPodFacts } from '../pod-facts.ts';
import { mayBeWarm, shapeOf } from './worker-pod.ts';
import type { WorkerPodInput } from './worker-pod.ts';

export type ShapedTask = { shape: string; task: TaskPodFacts };

type VersionShapes = {
  facts: VersionPodFacts;
  /** Tasks that may run in warm workers. */
  tasks: ReadonlyMap<string, ShapedTask>;
  /** The shape of most tasks, of which workers are kept ready. Undefined: no task may be warm. */
  main: ShapedTask | undefined;
  /** The number of ready workers that the author asks for. Undefined: not set. */
  minIdle: number | undefined;
};

export type TaskShapes = {
  get(ref: VersionRef): Promise<VersionShapes | undefined>;
  /** Returns the shapes only if they are cached. */
  peek(ref: VersionRef): VersionShapes | undefined;
};

const KEPT = 500;

export function createTaskShapes(input: {
  readFacts: ReadPodFacts;
  podInput: (facts: VersionPodFacts) => Omit<WorkerPodInput, 'task'>;
}): TaskShapes {
  const kept = createLoadCache<VersionShapes | undefined>({ max: KEPT });

  async function load(ref: VersionRef): Promise<VersionShapes | undefined> {
    const facts = await input.readFacts(ref);
    return facts && shapesOf(ref, facts, input.podInput(facts));
  }

  return {
    get: (ref) => kept.get(versionKey(ref), () => load(ref)),
    peek: (ref) => kept.peek(versionKey(ref)),
  };
}

function shapesOf(
  { tenantId, dagId, versionNumber }: VersionRef,
  facts: VersionPodFacts,
  common: Omit<WorkerPodInput, 'task'>,
): VersionShapes {
  const pool = { tenantId, dagId, versionNumber };
  const tasks = new Map<string, ShapedTask>();
  for (const [taskId, task] of facts.tasks) {
    if (mayBeWarm(facts, task)) tasks.set(taskId, { shape: shapeOf(pool, { ...common, task }), task });
  }
  const byShape = [...Map.groupBy(tasks.values(), ({ shape }) => shape).values()];
  const main = byShape.toSorted((a, b) => b.length - a.length)[0]?.[0];
  return { facts, tasks, main, minIdle: facts.minIdle };
}
