/**
 * Compiles and deploys units again when a variable or connection that their file has read has another value. The control
 * plane notices that, and warns of the DAG. What was compiled is what was deployed: files that have changed on this machine
 * are left for the next deployment, because the image of the tasks does not have them.
 */
import { createHash } from 'node:crypto';
import { createPace } from '@svc/compiler/values/pace.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import type { Client } from '../client/client.ts';
import { messageOf } from '../cli-error.ts';

type Compiled = Extract<CompiledUnit, { ok: true }>;

const LOOK_EVERY_MS = 5_000;
const LATER_MS = 60_000;

export async function watchDeployed(input: {
  client: Pick<Client, 'list'>;
  units: readonly CompiledUnit[];
  /** Compiles everything that was deployed. */
  compile: () => Promise<CompiledUnit[]>;
  /** Registers these, in the images that they have. */
  deploy: (units: readonly Compiled[]) => Promise<void>;
  warn: (message: string) => void;
  /** Resolves with true when the watch is to end. */
  pause: (milliseconds: number) => Promise<boolean>;
}): Promise<void> {
  const { client, compile, deploy, warn, pause } = input;
  const deployed = new Map(input.units.flatMap((unit) => (unit.ok ? [[unit.unit.name, unit] as const] : [])));

  async function pass(): Promise<'unaffected' | 'deployed' | 'left'> {
    const warnings = await client.list('/api/v2/dagWarnings', 'dag_warnings', { query: { kind: 'value changed' } });
    const changed = new Set(warnings.map(({ dag_id: dagId }) => dagId));
    const affected = [...deployed].filter(([, unit]) => unit.artifacts.some(({ dagId }) => changed.has(dagId)));
    if (affected.length === 0) return 'unaffected';
    const names = new Set(affected.map(([name]) => name));
    const ready: Compiled[] = [];
    for (const unit of await compile()) {
      const { name } = unit.unit;
      const before = deployed.get(name);
      if (!names.has(name) || !before) continue;
      if (!unit.ok) warn(`${name} does not compile with the values there are now: ${unit.problems[0]?.message ?? ''}`);
      else if (sourceOf(unit) !== sourceOf(before)) warn(`${name} has changed on this machine: deploy it again`);
      else ready.push(unit);
    }
    if (ready.length > 0) await deploy(ready);
    for (const unit of ready) deployed.set(unit.unit.name, unit);
    return ready.length === names.size ? 'deployed' : 'left';
  }

  const pace = createPace({ everyMs: LOOK_EVERY_MS });
  let wait = LOOK_EVERY_MS;
  while (!(await pause(wait))) {
    const began = performance.now();
    const outcome = await pass().catch((error: unknown) => {
      warn(`values that DAG files read could not be compared: ${messageOf(error)}`);
      return 'left' as const;
    });
    const soon = pace.pauseAfter(outcome === 'unaffected' ? 0 : performance.now() - began);
    wait = outcome === 'left' ? Math.max(LATER_MS, soon) : soon;
  }
}

/** The files of a unit, by content. */
function sourceOf({ artifacts }: Compiled): string {
  const [first] = artifacts;
  const hash = createHash('sha256');
  if (first) hash.update(JSON.stringify([first.spec.source.sha256, first.spec.source.modules, first.spec.files]));
  return hash.digest('hex');
}
