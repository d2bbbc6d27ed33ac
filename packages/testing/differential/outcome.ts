/** What happened to a generated DAG on one side, and the same as flat text, so that two sides can be compared. */

type Instance = {
  state: string | null;
  tries: number;
  /** Seconds. */
  start: number | null;
  end: number | null;
  label: string | null;
};
export type Note = { task: string; index: number; try: number; what: string; facts: unknown };
export type AssetEvent = { asset: string; uri: string; task: string; index: number; extra: unknown };
export type Happened = {
  run: string;
  state: string;
  /** Direct upstream tasks by task. */
  upstream: Record<string, string[]>;
  /** Tasks whose rule lets them begin before everything upstream has ended. */
  early: string[];
  instances: Record<string, Instance>;
  /** Instance, key, and the value as JSON text without spaces. */
  xcoms: [string, string, string][];
  rendered: Record<string, unknown>;
  events: AssetEvent[];
  notes: Note[];
};
/** `refused`: the file does not load. `broken`: the run could not be carried out. */
export type Outcome = Happened | { refused: string } | { broken: string };

/** Facts by the place that they are about: `t1[0] state`, `t1 xcom return_value`, `run state`. */
export type Facts = Record<string, string>;
/** `why`: the reason for the difference, if there is one. */
export type Difference = { where: string; airflow: string; here: string; why?: string };

export const instanceName = (task: string, index: number): string => (index < 0 ? task : `${task}[${index}]`);

export function factsOf(outcome: Outcome): Facts {
  // Each side has words of its own for it.
  if ('refused' in outcome) return { 'run state': 'refused' };
  if ('broken' in outcome) return { 'run state': `broken: ${outcome.broken}` };
  const facts: Facts = { 'run state': outcome.state };
  const say = (where: string, value: string): void => {
    facts[where] = value.replaceAll(outcome.run, 'RUN');
  };
  for (const [task, upstream] of Object.entries(outcome.upstream)) say(`${task} upstream`, upstream.join(' '));
  for (const [name, { state, tries, label }] of Object.entries(outcome.instances)) {
    say(`${name} state`, state ?? 'none');
    say(`${name} tries`, String(tries));
    if (label !== null && !name.endsWith(`[${label}]`)) say(`${name} label`, label);
  }
  for (const [name, key, value] of outcome.xcoms)
    say(`${name} xcom ${key}`, key === OF_BRANCHES ? JSON.stringify(sorted(JSON.parse(value))) : value);
  for (const [name, fields] of Object.entries(outcome.rendered)) {
    for (const [field, value] of Object.entries(fields as object))
      say(`${name} rendered ${field}`, JSON.stringify(inOrder(value)));
  }
  for (const [where, notes] of Map.groupBy(outcome.notes, noteName)) say(where, factsOfNotes(notes));
  const byAsset = Map.groupBy(
    outcome.events,
    ({ asset, task, index }) => `${instanceName(task, index)} event ${asset}`,
  );
  for (const [where, events] of byAsset)
    say(
      where,
      events
        .map(({ uri, extra }) => JSON.stringify([uri, extra]))
        .toSorted()
        .join(' '),
    );
  return facts;
}

/** Which tasks a branch has chosen or skipped. Their order is that of a set, another one in each process. */
const OF_BRANCHES = 'skipmixin_key';

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted).toSorted();
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, items]) => [key, sorted(items)]));
}

/** Airflow stores rendered dicts sorted by their keys. */
function inOrder(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inOrder);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, inOrder(item)]));
}

function factsOfNotes(notes: readonly Note[]): string {
  const all = notes.map(({ what, try: tried, facts }) =>
    JSON.stringify(what.startsWith('dag_') ? facts : [tried, facts]),
  );
  // How often a sensor looks before it gives up depends on the machine.
  return (notes[0]?.what === 'poke' ? [...new Set(all)] : all).join(' ');
}

/** A callback of the DAG shows the task that ended last, which may be another one each time. */
const noteName = ({ task, index, what }: Note): string =>
  what.startsWith('dag_') ? `run ${what}` : `${instanceName(task, index)} ${what}`;
