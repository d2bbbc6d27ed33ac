/** Reads logs while they are written. A line somebody has read must still be there in the end; so must all lines of whoever lived to its end. */
import { queryDatabase } from '../postgres/query-database.ts';
import type { Random } from './random.ts';
import { logReader } from './runs-evidence.ts';
import type { Evidence, InstanceEvidence } from './runs-evidence.ts';
import type { Plant } from './runs-plant.ts';

export type LogWatch = {
  /** Reads the logs of some instances that run right now. */
  look(): Promise<void>;
  check(evidence: Evidence): Promise<string[]>;
  linesSeen(): number;
};

type Seen = { instance: InstanceEvidence; tryNumber: number; text: string };

const AT_ONCE = 5;

export function createLogWatch(plant: Plant, random: Random): LogWatch {
  const read = logReader(plant);
  const seen = new Map<string, Seen>();

  return {
    async look() {
      const running = await queryDatabase<InstanceEvidence>(
        plant.databaseUrl,
        `select t.*, r.run_id from task_instances t join dag_runs r on r.tenant_id = t.tenant_id and r.id = t.run
         where t.state = 'running' limit 50`,
      );
      for (let more = 0; more < AT_ONCE && running.length > 0; more += 1) {
        const instance = random.pick(running);
        const text = await read(instance, instance.try_number);
        seen.set(keyOf(instance, instance.try_number), { instance, tryNumber: instance.try_number, text });
      }
    },

    async check(evidence) {
      const complaints: string[] = [];
      for (const { instance, tryNumber, text } of seen.values()) {
        if ((await read(instance, tryNumber)).startsWith(text)) continue;
        complaints.push(`${keyOf(instance, tryNumber)}: what was read of its log is not there any more`);
      }
      const byName = new Map(
        evidence.instances.map((row) => [nameOf(row.dag_id, row.run_id, row.task_id, row.map_index), row]),
      );
      const ended = new Set(evidence.effects.filter(({ what }) => what === 'end').map(({ attempt }) => attempt));
      // The word of an attempt that ended and was killed before it could say so never arrived: only what was recorded counts.
      const recorded = recordedEnds(evidence);
      for (const effect of evidence.effects) {
        if (effect.what !== 'start' || !ended.has(effect.attempt) || !recorded.has(effect.attempt)) continue;
        const row = byName.get(nameOf(effect.dag, effect.run, effect.task, effect.map));
        const text = row ? await read(row, effect.try) : '';
        const missing = [`begin ${effect.attempt}`].filter((line) => !text.includes(line));
        if (missing.length > 0) {
          complaints.push(
            `${effect.dag}/${effect.run}/${effect.task}/${effect.map} try ${effect.try}: no line "${missing[0]}"`,
          );
        }
      }
      return complaints;
    },
    linesSeen: () => [...seen.values()].reduce((sum, { text }) => sum + text.split('\n').length - 1, 0),
  };
}

const keyOf = (instance: InstanceEvidence, tryNumber: number): string =>
  `${instance.run}/${instance.task_id}/${instance.map_index}/${tryNumber}`;
const nameOf = (dag: string, run: string, task: string, map: number): string => `${dag}/${run}/${task}/${map}`;

/** Attempts whose own word became their state. */
function recordedEnds({ transitions }: Evidence): Set<string | null> {
  const own = transitions.filter(
    ({ was, became }) => was === 'running' && (became === 'success' || became === 'up_for_reschedule'),
  );
  return new Set(own.map(({ attempt_id: attempt }) => attempt));
}
