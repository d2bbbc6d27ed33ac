/** The result of a migration, or of its dry run, for everything in the source. */
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';

export const KINDS = ['pools', 'variables', 'connections', 'dags', 'users', 'history'] as const;
export type Kind = (typeof KINDS)[number];

/** `same`: it exists with equal values. `left`: it exists and differs, and `--overwrite` would change it. */
export const OUTCOMES = ['create', 'change', 'same', 'left', 'skip'] as const;
export type Outcome = (typeof OUTCOMES)[number];

export type Entry = { kind: Kind; name: string; outcome: Outcome; reason?: string | undefined };

export type Counts = Record<Outcome, number>;

/** The number of entries is limited. If a million runs cannot be imported, one reason is enough. */
const MAX_ENTRIES_OF_KIND = 10_000;
const SHOWN_OF_KIND = 100;

export type Report = {
  add(entry: Entry): void;
  /** Counts runs and instances, which are too many to name. */
  count(kind: Kind, outcome: Outcome, by: number): void;
  countsOf(kind: Kind): Counts;
  /** Adds a note about a whole kind. */
  note(kind: Kind, text: string): void;
  instances: number;
  readonly entries: readonly Entry[];
  readonly notes: readonly { kind: Kind; text: string }[];
};

export function createReport(): Report {
  const counts = new Map<Kind, Counts>();
  const entries: Entry[] = [];
  const notes: { kind: Kind; text: string }[] = [];
  const kept = new Map<Kind, number>();
  const countsOf = (kind: Kind): Counts => {
    const known = counts.get(kind) ?? { create: 0, change: 0, same: 0, left: 0, skip: 0 };
    counts.set(kind, known);
    return known;
  };
  return {
    entries,
    notes,
    instances: 0,
    countsOf,
    add(entry) {
      countsOf(entry.kind)[entry.outcome] += 1;
      const number = kept.get(entry.kind) ?? 0;
      kept.set(entry.kind, number + 1);
      if (number < MAX_ENTRIES_OF_KIND) entries.push(entry);
    },
    count(kind, outcome, by) {
      countsOf(kind)[outcome] += by;
    },
    note(kind, text) {
      if (!notes.some((known) => known.kind === kind && known.text === text)) notes.push({ kind, text });
    },
  };
}

type Shown = {
  report: Report;
  source: { name: string; version: string };
  tenant: string;
  kinds: readonly Kind[];
  isApplied: boolean;
};

export function printReport(context: CliContext, shown: Shown, isJson: boolean): void {
  const { report, source, tenant, kinds, isApplied } = shown;
  if (isJson) {
    printJson(context, {
      source: source.name,
      version: source.version,
      tenant,
      applied: isApplied,
      counts: Object.fromEntries(kinds.map((kind) => [kind, report.countsOf(kind)])),
      task_instances: report.instances,
      entries: report.entries,
      notes: report.notes,
    });
    return;
  }
  const { stdout } = context;
  stdout.write(`\nFrom ${source.name} (${source.version}) to the tenant ${tenant}:\n\n`);
  const named = report.entries.filter(({ outcome, reason }) => outcome !== 'same' || reason !== undefined);
  const rows = kinds.flatMap((kind) => named.filter((entry) => entry.kind === kind).slice(0, SHOWN_OF_KIND));
  if (rows.length > 0) {
    printTable(stdout, {
      columns: [
        { title: 'KIND', value: (row) => row.kind },
        { title: 'NAME', value: (row) => row.name },
        { title: isApplied ? 'DONE' : 'WOULD', value: (row) => wordOf(row.outcome, isApplied) },
        { title: 'WHY', value: (row) => row.reason ?? '' },
      ],
      rows,
    });
    if (rows.length < named.length) stdout.write(`… and ${named.length - rows.length} more: --json has them\n`);
    stdout.write('\n');
  }
  printTable(stdout, {
    columns: [
      { title: 'KIND', value: (kind) => kind },
      ...OUTCOMES.map((outcome) => ({
        title: wordOf(outcome, isApplied).toUpperCase(),
        value: (kind: Kind) => String(report.countsOf(kind)[outcome]),
        align: 'right' as const,
      })),
    ],
    rows: kinds,
  });
  if (kinds.includes('history')) stdout.write(`\nhistory counts runs; they have ${report.instances} task instances\n`);
  for (const { kind, text } of report.notes) stdout.write(`\n${kind}: ${text}\n`);
  if (!isApplied) stdout.write('\nNothing was changed. Run the same command with --apply to do it.\n');
}

const DONE: Record<Outcome, string> = {
  create: 'created',
  change: 'changed',
  same: 'same',
  left: 'left',
  skip: 'skipped',
};
const wordOf = (outcome: Outcome, isApplied: boolean): string => (isApplied ? DONE[outcome] : outcome);
