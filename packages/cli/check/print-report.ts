/** The report for people at a terminal: a table, then what there is to do, each with its place. */
import type { CliContext } from '../context.ts';
import { printTable, styled } from '../output/terminal.ts';
import { printable, wrap } from '../output/text.ts';
import { count } from '../output/wording.ts';
import type { CheckReport, CheckedDag, CheckedFile, Effort } from './report.ts';

type Row = { file: CheckedFile; dag: CheckedDag | null };

export function printReport({ stdout }: CliContext, report: CheckReport): void {
  const heading = (text: string): void => void stdout.write(`\n${styled(stdout, 'bold', text)}\n`);
  const line = (text: string): void => void stdout.write(`${printable(text)}\n`);
  const rows = report.files.flatMap((file): Row[] =>
    file.dags.length > 0 ? file.dags.map((dag) => ({ file, dag })) : [{ file, dag: null }],
  );
  printTable(stdout, {
    columns: [
      { title: 'FILE', value: ({ file }) => file.file },
      { title: 'DAG', value: ({ file, dag }) => dag?.dag_id ?? (file.is_dag_file ? '-' : kindOf(file)) },
      { title: 'LOADS', value: ({ file }) => (file.loads ? 'yes' : 'no') },
      { title: 'AS ON AIRFLOW', value: ({ dag }) => asOnAirflow(dag) },
      { title: 'NEEDS', value: ({ file }) => countOrDash(file.packages.filter(({ listed }) => !listed).length) },
      { title: 'GONE', value: ({ file }) => countOrDash(file.gone.length), align: 'right' },
      { title: 'FIX', value: ({ file }) => countOrDash(file.fixable.length), align: 'right' },
      { title: 'BY HAND', value: ({ file }) => countOrDash(file.by_hand.length), align: 'right' },
      { title: 'EFFORT', value: ({ file }) => file.effort },
    ],
    rows,
  });

  const stuck = report.files.flatMap(({ problems }) => problems);
  if (stuck.length > 0) heading('Does not load');
  for (const { file, line: at, message, instead } of stuck) {
    line(`${at === null ? file : `${file}:${at}`}: ${message}`);
    if (instead) line(`    ${instead}`);
  }
  printPlaces(report, 'gone', heading, line);
  printPlaces(report, 'by_hand', heading, line);
  printPackages(report, heading, line);
  printDifferences(report, heading, line);
  printNotes(report, heading, line);
  printNext(report, heading, line);
}

/** What a file without DAGs is for. */
export const kindOf = ({ file }: CheckedFile): string => (file.endsWith('.py') ? 'module' : 'template');

const countOrDash = (number: number): string => (number === 0 ? '-' : String(number));

function asOnAirflow(dag: CheckedDag | null): string {
  if (dag === null) return '-';
  const ids = dag.differs.map(({ id }) => id);
  return ids.length === 0 ? 'yes' : `${dag.runs_as_on_airflow ? 'yes, but' : 'differs'}: ${ids.join(', ')}`;
}

type Print = (text: string) => void;

const TITLES = { gone: 'Uses what is gone', by_hand: 'Old spellings to change by hand' } as const;

function printPlaces(report: CheckReport, kind: 'gone' | 'by_hand', heading: Print, line: Print): void {
  // What stops a file was said above already.
  const said = new Set(
    report.files.flatMap(({ problems }) => problems.map((problem) => `${problem.file}:${problem.line}`)),
  );
  const places = report.files.flatMap((file) =>
    file[kind].map((spelling) => ({ place: `${file.file}:${spelling.line}`, spelling })),
  );
  const left = kind === 'gone' ? places.filter(({ place }) => !said.has(place)) : places;
  if (left.length > 0) heading(TITLES[kind]);
  for (const { place, spelling } of left) line(`${place}: ${spelling.message}`);
}

function printPackages(report: CheckReport, heading: Print, line: Print): void {
  const names = report.totals.packages_to_add;
  if (names.length === 0) return;
  heading('Packages to add to the requirements');
  for (const name of names) {
    const users = report.files.filter(({ packages }) => packages.some((each) => each.name === name));
    const shown = users.slice(0, 3).map(({ file }) => file);
    line(
      `${name}  (${shown.join(', ')}${users.length > shown.length ? `, and ${users.length - shown.length} more` : ''})`,
    );
  }
}

function printDifferences(report: CheckReport, heading: Print, line: Print): void {
  const dags = report.files.flatMap((file) => file.dags);
  const known = new Map(
    dags.flatMap(({ differs }) => differs.map((difference) => [difference.id, difference] as const)),
  );
  for (const since of ['airflow-3', 'airflow-2'] as const) {
    const found = [...known.values()].filter((difference) => difference.since === since);
    if (found.length === 0) continue;
    heading(since === 'airflow-3' ? 'Differs from Airflow 3.2' : 'Changed since Airflow 2');
    for (const { id, title, detail } of found) {
      const users = dags.filter(({ differs }) => differs.some((difference) => difference.id === id)).length;
      line(`${id}: ${title} (${count(users, 'DAG')})`);
      for (const part of wrap(detail, 96)) line(`    ${part}`);
    }
  }
}

/** Each note once: a plugin, for example, is missing in every file of its repository. */
function printNotes(report: CheckReport, heading: Print, line: Print): void {
  const notes = Map.groupBy(
    report.files.flatMap((file) => file.notes),
    ({ message }) => message,
  );
  if (notes.size > 0) heading('Notes');
  for (const [message, of] of notes) {
    const [first, ...more] = of.map((note) => (note.line === null ? note.file : `${note.file}:${note.line}`));
    line(`${first}${more.length === 0 ? '' : ` and ${more.length} more`}: ${message}`);
  }
}

export const EFFORT_WORDS: Readonly<Record<Effort, string>> = {
  none: 'nothing to do',
  fix: 'run svc fix',
  edit: 'small changes by hand',
  rework: 'parts have to be written anew',
};

function printNext(report: CheckReport, heading: Print, line: Print): void {
  const { totals, effort, path } = report;
  heading('Summary');
  line(
    `${totals.loads} of ${count(totals.files, 'file')} load (${totals.loads_percent} %); ${totals.runs_as_on_airflow} of ${count(totals.dags, 'DAG')} run as on Airflow 3.2.`,
  );
  const parts = Object.entries(totals.effort).filter(([, number]) => number > 0);
  line(
    `Effort: ${effort} (${EFFORT_WORDS[effort]}). Files: ${parts.map(([word, number]) => `${number} ${word}`).join(', ')}.`,
  );
  if (totals.fixable > 0) line(`svc fix ${path} --write rewrites ${count(totals.fixable, 'place')}.`);
}
