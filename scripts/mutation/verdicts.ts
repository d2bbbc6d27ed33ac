/** From what happened while the tests ran to a verdict for each mutant. */
import { readFileSync } from 'node:fs';
import { reasonOf, shortened } from './accepted.ts';
import type { NumberedMutant } from './instrument.ts';

type Event =
  | { kind: 'reached'; ids: number[]; atLoad: number[] }
  | { kind: 'begun'; id: number }
  | { kind: 'killed'; id: number; name: string }
  | { kind: 'unrepeatable'; name: string };

export type Events = {
  /** By the test that found them. */
  readonly killed: ReadonlyMap<number, string>;
  /** The process ended while they were on. */
  readonly crashed: ReadonlySet<number>;
  readonly reached: ReadonlySet<number>;
  readonly atLoad: ReadonlySet<number>;
  readonly unrepeatable: ReadonlySet<string>;
};

export function readEvents(file: string): Events {
  const killed = new Map<number, string>();
  const [crashed, reached, atLoad] = [new Set<number>(), new Set<number>(), new Set<number>()];
  const unrepeatable = new Set<string>();
  let underWay: number | undefined;
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    if (line === '') continue;
    const event = JSON.parse(line) as Event | { kind: 'crashed' };
    if (event.kind === 'reached') {
      event.ids.forEach((id) => reached.add(id));
      event.atLoad.forEach((id) => atLoad.add(id));
    } else if (event.kind === 'unrepeatable') unrepeatable.add(event.name);
    else if (event.kind === 'killed') killed.set(event.id, event.name);
    else if (event.kind === 'crashed' && underWay !== undefined) crashed.add(underWay);
    underWay = event.kind === 'begun' ? event.id : undefined;
  }
  return { killed, crashed, reached, atLoad, unrepeatable };
}

export type Counts = {
  readonly killed: number;
  readonly survived: readonly NumberedMutant[];
  readonly unreached: readonly NumberedMutant[];
  /** Reached only while modules load: nothing is known of them. */
  readonly static: number;
  /** Of all that could be switched. */
  readonly percent: number;
  readonly unrepeatable: readonly string[];
};

export function countVerdicts(mutants: readonly NumberedMutant[], events: Events): Counts {
  const isKilled = ({ id }: NumberedMutant): boolean => events.killed.has(id) || events.crashed.has(id);
  const isStatic = ({ id }: NumberedMutant): boolean => events.atLoad.has(id) && !events.reached.has(id);
  const open = mutants.filter((mutant) => !isKilled(mutant) && !isStatic(mutant));
  const killed = mutants.filter(isKilled).length;
  return {
    killed,
    survived: open.filter(({ id }) => events.reached.has(id)),
    unreached: open.filter(({ id }) => !events.reached.has(id)),
    static: mutants.filter(isStatic).length,
    percent: killed + open.length === 0 ? 100 : (100 * killed) / (killed + open.length),
    unrepeatable: [...events.unrepeatable],
  };
}

const lineOf = (why: string, mutant: NumberedMutant): string => {
  const { file, line, kind, original, replacement } = mutant;
  return `  ${file}:${line} ${why} ${kind}: ${shortened(original)} -> ${shortened(replacement)}`;
};

const isOpen = (mutant: NumberedMutant): boolean => reasonOf(mutant) === undefined;

export function reportOf(name: string, counts: Counts): string {
  const { killed, survived, unreached, percent, unrepeatable } = counts;
  const [open, openUnreached] = [survived.filter(isOpen), unreached.filter(isOpen)];
  const accepted = survived.length + unreached.length - open.length - openUnreached.length;
  return [
    ...open.map((mutant) => lineOf('survived', mutant)),
    ...openUnreached.map((mutant) => lineOf('unreached', mutant)),
    ...unrepeatable.map((test) => `  cannot be repeated, and decides nothing: ${test}`),
    `${name}: ${percent.toFixed(1)} % of ${killed + survived.length + unreached.length} killed (${killed} killed, ` +
      `${survived.length} survived, ${unreached.length} unreached; ${accepted} of these two are in accepted.ts; ` +
      `${counts.static} more run only while modules load)`,
  ].join('\n');
}
