/** What `svc check` finds, as data: the table, the JSON document and the page all show this. */
import { join, relative } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { differencesOf } from '@svc/compiler/differences/table.ts';
import type { FoundDifference } from '@svc/compiler/differences/table.ts';
import type { UnitProblem } from '@svc/compiler/reading/unit-problem.ts';
import type { FileSpellings, Spelling } from '@svc/compiler/scan-spellings.ts';
import { isTest } from '@svc/compiler/discover.ts';
import { packageOf } from '@svc/compiler/outside-packages.ts';
import { normalName } from '@svc/compiler/repository/requirement-line.ts';
import { neededAirflow } from './needed-airflow.ts';
import type { NeededAirflow } from './needed-airflow.ts';
import type { Requirements } from './requirements.ts';

/** What is left to do: nothing; `svc fix`; small changes by hand; more than that. */
export const EFFORTS = ['none', 'fix', 'edit', 'rework'] as const;
export type Effort = (typeof EFFORTS)[number];

export type CheckedDag = {
  dag_id: string;
  tasks: number;
  schedule: string | null;
  differs: FoundDifference[];
  /** True when nothing differs from Airflow 3.2. */
  runs_as_on_airflow: boolean;
};

export type CheckedProblem = { file: string; line: number | null; message: string; instead: string };

export type NeededPackage = {
  name: string;
  module: string;
  line: number;
  /** A file of requirements names it. */
  listed: boolean;
  /** Loading the file failed for the want of it. */
  missing: boolean;
};

export type CheckedFile = {
  file: string;
  /** False for a module that only other files import. */
  is_dag_file: boolean;
  loads: boolean;
  effort: Effort;
  dags: CheckedDag[];
  /** Why it does not load. */
  problems: CheckedProblem[];
  gone: Spelling[];
  /** Places that `svc fix` rewrites. */
  fixable: Spelling[];
  by_hand: Spelling[];
  packages: NeededPackage[];
  /** The oldest Airflow that has all of its names; null when nothing in it says so. */
  needs_airflow: NeededAirflow['version'] | null;
  notes: CheckedProblem[];
};

export type CheckReport = {
  path: string;
  files: CheckedFile[];
  requirements: readonly string[];
  totals: {
    files: number;
    loads: number;
    /** Of the DAG files, in percent with one decimal. */
    loads_percent: number;
    dags: number;
    runs_as_on_airflow: number;
    gone: number;
    fixable: number;
    by_hand: number;
    packages_to_add: string[];
    effort: Record<Effort, number>;
  };
  effort: Effort;
};

const OLD_WORDS = / is an old spelling| has no effect: /;
const MISSING_MODULE = /No module named '([\w.]+)'/;
const MANY = 3;

export function buildReport(input: {
  root: string;
  path: string;
  units: readonly CompiledUnit[];
  spellings: readonly FileSpellings[];
  requirements: Requirements;
  readText: (file: string) => string;
}): CheckReport {
  const { root, path, units, spellings, readText } = input;
  const requirements = withImages(input.requirements, units);
  const found = new Map(spellings.map((file) => [file.path, file]));
  const nameOf = (unit: CompiledUnit, file: string): string => relative(root, join(unit.unit.root, file)) || file;
  const dagFiles = units.map((unit): CheckedFile => {
    const file = nameOf(unit, unit.source);
    const spelling = found.get(file);
    found.delete(file);
    return checkedUnit({ unit, file, spelling, requirements, readText, nameOf });
  });
  const modules = [...found.values()]
    .filter(({ findings, error }) => findings.length > 0 || error !== null)
    .map((spelling) => checkedModule(spelling, requirements));
  const files = [...dagFiles, ...modules].sort((a, b) => (a.file < b.file ? -1 : 1));
  return { path, files, requirements: requirements.files, totals: totalsOf(files), effort: worst(files) };
}

/** Packages that an image of Airflow brings are installed where a file imports them, so nothing is left to do. */
function withImages(requirements: Requirements, units: readonly CompiledUnit[]): Requirements {
  const ofImages = new Set(units.flatMap(({ unit }) => unit.repository?.ofImage ?? []));
  return { ...requirements, lists: (name) => ofImages.has(normalName(name)) || requirements.lists(name) };
}

function checkedUnit(input: {
  unit: CompiledUnit;
  file: string;
  spelling: FileSpellings | undefined;
  requirements: Requirements;
  readText: (file: string) => string;
  nameOf: (unit: CompiledUnit, file: string) => string;
}): CheckedFile {
  const { unit, file, spelling, requirements, readText, nameOf } = input;
  const shown = ({ file: name, line, message, instead }: UnitProblem): CheckedProblem => ({
    file: nameOf(unit, name),
    line,
    message,
    instead,
  });
  const isForAirflow2 = requirements.isForAirflow2 || (spelling?.findings.length ?? 0) > 0;
  const written = spelling || isForAirflow2 ? readText(file) : '';
  const needed = neededAirflow(written);
  const text = isForAirflow2 ? written : '';
  const dags = (unit.ok ? unit.artifacts : []).map(({ dagId, spec, noted }): CheckedDag => {
    const templates = spec.files.map((template) => template.text);
    const differs = differencesOf({ spec, noted, text: [text, ...templates].join('\n'), isForAirflow2 });
    return {
      dag_id: dagId,
      tasks: spec.tasks.length,
      schedule: spec.schedule.type === 'null' ? null : scheduleText(spec.schedule),
      differs,
      runs_as_on_airflow: differs.every(({ since }) => since !== 'airflow-3'),
    };
  });
  const problems = unit.ok ? [] : unit.problems.map(shown);
  const base = {
    ...fromSpelling(file, spelling, requirements, problems),
    is_dag_file: !unit.ok || unit.artifacts.length > 0,
    loads: unit.ok,
    dags,
    problems,
    needs_airflow: needed?.version ?? null,
    notes: [
      ...unit.warnings.filter(({ message }) => !OLD_WORDS.test(message)).map(shown),
      ...(needed?.version === '3.3'
        ? [{ file, line: null, message: `needs Airflow 3.3 or newer: ${needed.because.join(', ')}`, instead: '' }]
        : []),
    ],
  };
  return { ...base, effort: effortOf(base) };
}

function checkedModule(spelling: FileSpellings, requirements: Requirements): CheckedFile {
  const { path: file, error } = spelling;
  const problems = error === null ? [] : [{ file, line: null, message: error, instead: '' }];
  const base = {
    ...fromSpelling(file, spelling, requirements, problems),
    is_dag_file: false,
    loads: error === null,
    dags: [],
    problems,
    needs_airflow: null,
    notes: [],
  };
  return { ...base, effort: effortOf(base) };
}

function fromSpelling(
  file: string,
  spelling: FileSpellings | undefined,
  requirements: Requirements,
  problems: readonly CheckedProblem[],
) {
  const findings = spelling?.findings ?? [];
  const missing = new Set(problems.map(({ message }) => MISSING_MODULE.exec(message)?.[1]).filter(Boolean));
  const packages = new Map<string, NeededPackage>();
  for (const { module, line } of spelling?.modules ?? []) {
    const name = packageOf(module);
    const isMissing = [...missing].some((other) => module === other || module.startsWith(`${other}.`));
    const known = packages.get(name);
    if (known !== undefined && (known.missing || !isMissing)) continue;
    packages.set(name, { name, module, line, listed: requirements.lists(name), missing: isMissing });
  }
  return {
    file,
    // Tests run with pytest next to an installed Airflow, which has what is gone here.
    gone: findings.filter(({ kind }) => kind === 'gone' && !isTest(file)),
    fixable: findings.filter(({ fixable }) => fixable),
    by_hand: findings.filter(({ kind, fixable }) => kind !== 'gone' && !fixable),
    packages: [...packages.values()],
  };
}

function effortOf(file: Omit<CheckedFile, 'effort'>): Effort {
  if (file.gone.length > MANY || file.gone.some(({ instead }) => /SubDAG/.test(instead))) return 'rework';
  if (!file.loads || file.gone.length > 0 || file.by_hand.length > 0) return 'edit';
  if (file.packages.some(({ listed }) => !listed)) return 'edit';
  return file.fixable.length > 0 ? 'fix' : 'none';
}

const worst = (files: readonly CheckedFile[]): Effort =>
  files.reduce<Effort>(
    (found, { effort }) => (EFFORTS.indexOf(effort) > EFFORTS.indexOf(found) ? effort : found),
    'none',
  );

function totalsOf(files: readonly CheckedFile[]): CheckReport['totals'] {
  const dagFiles = files.filter((file) => file.is_dag_file);
  const loads = dagFiles.filter((file) => file.loads).length;
  const dags = files.flatMap((file) => file.dags);
  const sum = (value: (file: CheckedFile) => number): number => files.reduce((total, file) => total + value(file), 0);
  const toAdd = files.flatMap(({ packages }) => packages.filter(({ listed }) => !listed).map(({ name }) => name));
  return {
    files: dagFiles.length,
    loads,
    loads_percent: dagFiles.length === 0 ? 100 : Math.round((loads / dagFiles.length) * 1_000) / 10,
    dags: dags.length,
    runs_as_on_airflow: dags.filter((dag) => dag.runs_as_on_airflow).length,
    gone: sum(({ gone }) => gone.length),
    fixable: sum(({ fixable }) => fixable.length),
    by_hand: sum(({ by_hand: byHand }) => byHand.length),
    packages_to_add: [...new Set(toAdd)].sort(),
    effort: Object.fromEntries(
      EFFORTS.map((effort) => [effort, files.filter((file) => file.effort === effort).length]),
    ) as Record<Effort, number>,
  };
}

function scheduleText(timetable: { type: string; expression?: unknown; expressions?: unknown }): string {
  if (typeof timetable.expression === 'string') return timetable.expression;
  if (Array.isArray(timetable.expressions)) return timetable.expressions.join(', ');
  return timetable.type.replaceAll('_', ' ');
}
