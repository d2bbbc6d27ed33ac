/**
 * Parses the text of a `svc.yaml`: fills in defaults and reports every problem with its line and column. It is pure;
 * the caller reads the file.
 */
import { distance } from 'fastest-levenshtein';
import { Errors } from 'typebox/value';
import { placeAt, readYaml } from '../files/yaml.ts';
import type { PlaceTree } from '../files/yaml.ts';
import { CONNECTORS } from './connectors.ts';
import { pythonLineWarning } from './python-lines.ts';
import { PROJECT_DEFAULTS, ProjectFile } from './schema.ts';
import type { ProjectFile as Project } from './schema.ts';

export type ProjectProblem = {
  message: string;
  line: number;
  column: number;
  /** What the author can do. Absent if the message says it. */
  instead?: string;
};

/** Plain data, so that another thread can send it. */
export type LoadedProject =
  | {
      ok: true;
      project: Project & { dag_id: string };
      warnings: ProjectProblem[];
      /** The place of each key, for problems that are found later (`placeAt`). */
      places: PlaceTree;
    }
  | { ok: false; problems: ProjectProblem[] };

type Path = readonly (string | number)[];

/** YAML reads an unquoted `3.10` as the number 3.1. For these keys, the written text counts. */
const WRITTEN_AS_TEXT = new Set(['python_version', 'schema_version']);

/** `directoryName` names the DAG if the file does not. An absent file counts as an empty one. */
export function loadProject(text: string, directoryName: string): LoadedProject {
  const read = readYaml(text, {
    kind: 'project',
    file: 'svc.yaml',
    number: (value, source, path) => (path.length === 1 && WRITTEN_AS_TEXT.has(path[0] ?? '') ? source : value),
  });
  if (!read.ok) return { ok: false, problems: [...read.problems] };
  const { places } = read;
  const at = (path: Path): { line: number; column: number } => placeAt(places, path);

  const written = read.value ?? {};
  if (typeof written !== 'object' || Array.isArray(written)) {
    return {
      ok: false,
      problems: [{ message: 'svc.yaml must be a map of keys, such as "dag_id: my_dag"', line: 1, column: 1 }],
    };
  }
  const filled = { dag_id: directoryName, ...withDefaults(written as Record<string, unknown>) };
  const problems = [...schemaProblems(filled, at), ...connectorProblems(filled, at)];
  if (problems.length > 0)
    return { ok: false, problems: problems.sort((a, b) => a.line - b.line || a.column - b.column) };
  const project = filled as Project & { dag_id: string };
  return { ok: true, project, warnings: warningsOf(project, written as Record<string, unknown>, at), places };
}

/**
 * Replaces empty fields (absent, null, "" or an empty list or map) by their defaults. The nested sections are merged
 * field by field.
 */
function withDefaults(written: Record<string, unknown>): Record<string, unknown> {
  const result: Record<string, unknown> = {
    ...structuredClone(PROJECT_DEFAULTS),
    ...withoutZeros(written, knownKeys([])),
  };
  for (const key of ['build', 'registry', 'staging'] as const) {
    const value = result[key];
    if (typeof value !== 'object' || value === null || Array.isArray(value)) continue;
    result[key] = { ...PROJECT_DEFAULTS[key], ...withoutZeros(value as Record<string, unknown>, knownKeys([key])) };
  }
  return result;
}

/** An unknown key stays even if its value is empty, because it must be reported. */
const withoutZeros = (fields: Record<string, unknown>, known: readonly string[]): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([key, value]) => !known.includes(key) || !isZero(value)));

function isZero(value: unknown): boolean {
  if (value === null || value === undefined || value === '') return true;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** An author fixes at most this many problems before the next try. */
const MAX_PROBLEMS = 50;

function schemaProblems(value: unknown, at: (path: Path) => { line: number; column: number }): ProjectProblem[] {
  const seen = new Set<string>();
  const problems: ProjectProblem[] = [];
  for (const error of Errors(ProjectFile, value)) {
    if (problems.length === MAX_PROBLEMS) break;
    const path = error.instancePath
      .split('/')
      .slice(1)
      .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
    // A closed object reports itself and each unknown key, and a union reports each of its members. Only one message
    // per place is kept.
    if (error.keyword === 'additionalProperties' || seen.has(error.instancePath)) continue;
    seen.add(error.instancePath);
    const last = path.at(-1) ?? '';
    const message =
      error.keyword === 'boolean'
        ? unknownKey(path.slice(0, -1), last)
        : `${shownPath(path)} ${explain(error, valueAt(value, path), allowedAt(path))}`;
    problems.push({ message, ...at(path) });
  }
  return problems;
}

function unknownKey(path: Path, key: string): string {
  const where = shownPath([...path, key]);
  if (path.length >= 2 && path.at(-1) === 'env')
    return `${where} is not a name an author may set: use letters, digits and _, and not the prefix SVC_`;
  const known = knownKeys(path);
  const near = key.slice(0, LONGEST_KEY);
  const nearest = known.toSorted((a, b) => distance(a, near) - distance(b, near))[0];
  return `unknown key ${where}${nearest !== undefined && distance(nearest, near) <= 3 ? `: did you mean ${nearest}?` : `; known here: ${known.join(', ')}`}`;
}

type SchemaNode = {
  properties?: Record<string, SchemaNode>;
  patternProperties?: Record<string, SchemaNode>;
  anyOf?: SchemaNode[];
  const?: unknown;
};

/** Returns the schema of a path. `tasks.<id>` passes through the map of tasks. */
const schemaAt = (path: Path): SchemaNode | undefined =>
  path.reduce<SchemaNode | undefined>(
    (current, part) => current?.properties?.[part] ?? Object.values(current?.patternProperties ?? {})[0],
    ProjectFile as SchemaNode,
  );

const knownKeys = (path: Path): string[] => Object.keys(schemaAt(path)?.properties ?? {});

/** Lists the allowed words of a key. */
function allowedAt(path: Path): string {
  const node = schemaAt(path);
  return [node, ...(node?.anyOf ?? [])]
    .flatMap((arm) => (typeof arm?.const === 'string' ? [arm.const] : []))
    .join(', ');
}

function explain(error: { keyword: string; params: object; message: string }, value: unknown, allowed: string): string {
  const params = error.params as Record<string, unknown>;
  if (typeof value === 'string' && /[\r\n\u0085\u2028\u2029]/.test(value)) return 'must not contain a line break';
  switch (error.keyword) {
    case 'type':
      return `must be ${[params['type']].flat().join(' or ')}, not ${Array.isArray(value) ? 'a list' : shown(value)}`;
    case 'pattern':
      return `is ${shown(value)}, which does not match ${String(params['pattern'])}`;
    case 'const':
    case 'anyOf':
    case 'enum':
      return `is ${shown(value)}; allowed: ${allowed}`;
    default:
      return `${error.message}, not ${shown(value)}`;
  }
}

function connectorProblems(
  filled: Record<string, unknown>,
  at: (path: Path) => { line: number; column: number },
): ProjectProblem[] {
  const names = Array.isArray(filled['connectors']) ? filled['connectors'] : [];
  return names.flatMap((name: unknown, index) => {
    if (typeof name !== 'string' || Object.hasOwn(CONNECTORS, name)) return [];
    const near = name.slice(0, LONGEST_KEY);
    const nearest = Object.keys(CONNECTORS).toSorted((a, b) => distance(a, near) - distance(b, near))[0];
    return [
      {
        message: `connectors: there is no connector ${shown(name)}: did you mean ${nearest}? Any package can be listed in dependencies`,
        ...at(['connectors', index]),
      },
    ];
  });
}

function warningsOf(
  project: Project,
  written: Record<string, unknown>,
  at: (path: Path) => { line: number; column: number },
): ProjectProblem[] {
  const python = pythonLineWarning(project);
  return [
    ...(python === undefined
      ? []
      : [{ message: python, ...at([project.base_image === undefined ? 'python_version' : 'base_image']) }]),
    ...(isZero(written['include_paths'])
      ? []
      : [
          {
            message: 'include_paths has no effect: the generated build file copies only what the DAG needs',
            ...at(['include_paths']),
          },
        ]),
    ...(project.build.context === '.'
      ? []
      : [
          {
            message: 'build.context has no effect: the build always uses the DAG directory',
            ...at(['build', 'context']),
          },
        ]),
  ];
}

const SHOWN = 200;
/** Longer than any key of the schema. */
const LONGEST_KEY = 60;

const shownPath = (path: Path): string => path.map((part) => String(part).slice(0, LONGEST_KEY)).join('.');

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > SHOWN ? `${text.slice(0, SHOWN)}…` : text;
}

const valueAt = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((inner, part) => (inner as Record<string, unknown> | undefined)?.[part], value);
