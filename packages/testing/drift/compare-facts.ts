/** Compares what the newest Airflow is with what was stored, fact by fact. */

/** By part (`openapi`, `names`, …), then by the name of the fact. */
export type Facts = Record<string, Record<string, string>>;

export type DriftRow = { part: string; fact: string } & (
  | { change: 'new'; found: string }
  | { change: 'gone'; expected: string }
  | { change: 'changed'; expected: string; found: string }
);

/** A part that is missing on one side is new or gone with all of its facts. Rows are in the order of their names. */
export function compareFacts(expected: Facts, found: Facts): DriftRow[] {
  const parts = [...new Set([...Object.keys(expected), ...Object.keys(found)])].toSorted();
  return parts.flatMap((part) => comparePart(part, expected[part] ?? {}, found[part] ?? {}));
}

function comparePart(part: string, expected: Record<string, string>, found: Record<string, string>): DriftRow[] {
  const names = [...new Set([...Object.keys(expected), ...Object.keys(found)])].toSorted();
  return names.flatMap((fact): DriftRow[] => {
    const before = expected[fact];
    const now = found[fact];
    if (before === now) return [];
    if (now === undefined) return before === undefined ? [] : [{ part, fact, change: 'gone', expected: before }];
    if (before === undefined) return [{ part, fact, change: 'new', found: now }];
    return [{ part, fact, change: 'changed', expected: before, found: now }];
  });
}

const MOST_WIDTH = 100;

/** One line for each row, in columns, and one with the counts. */
export function renderDrift(rows: readonly DriftRow[]): string {
  if (rows.length === 0) return 'nothing differs from the expectation\n';
  const lines = rows.map((row) => [row.change, row.part, row.fact, valuesOf(row)]);
  const widths = [0, 1, 2].map((column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  const table = lines.map((line) =>
    line
      .map((text, column) => text.padEnd(Math.min(widths[column] ?? 0, MOST_WIDTH)))
      .join('  ')
      .trimEnd(),
  );
  const count = (change: DriftRow['change']): string =>
    `${rows.filter((row) => row.change === change).length} ${change}`;
  return `${[...table, [count('new'), count('gone'), count('changed')].join(', ')].join('\n')}\n`;
}

function valuesOf(row: DriftRow): string {
  if (row.change === 'new') return short(row.found);
  if (row.change === 'gone') return short(row.expected);
  const same = commonStart(row.expected, row.found);
  return `${short(row.expected.slice(same))} → ${short(row.found.slice(same))}`;
}

/** Where two long values begin to differ, a little before: the beginning says nothing new. */
function commonStart(one: string, other: string): number {
  let at = 0;
  while (at < one.length && one[at] === other[at]) at += 1;
  return one.length <= MOST_WIDTH && other.length <= MOST_WIDTH ? 0 : Math.max(0, at - 20);
}

const short = (text: string): string => (text.length <= MOST_WIDTH ? text : `${text.slice(0, MOST_WIDTH - 1)}…`);
