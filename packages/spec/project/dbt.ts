/** `dbt` and `dbt_groups` of svc.yaml: their schema, and what the compiler receives. */
import { Type } from 'typebox';
import type { Static } from 'typebox';

const ONE_LINE = String.raw`^[^\r\n\u0000\u0085\u2028\u2029]*$`;
const Line = (description: string) => Type.String({ pattern: ONE_LINE, minLength: 1, maxLength: 4_096, description });
const Names = (description: string) =>
  Type.Array(Type.String({ pattern: ONE_LINE, minLength: 1, maxLength: 4_096 }), { maxItems: 1_000, description });
const OneOf = <Word extends string>(words: readonly Word[], description: string) =>
  Type.Union(
    words.map((word) => Type.Literal(word)),
    { description },
  );

const Shared = {
  granularity: Type.Optional(OneOf(['node', 'level', 'folder'], 'What one task runs; `node` by default')),
  select: Type.Optional(Names('As after `--select`; each entry adds to the others')),
  exclude: Type.Optional(Names('As after `--exclude`')),
  selector: Type.Optional(Line('A selector of the project’s selectors.yml')),
  conn_id: Type.Optional(Line('Connection that the profile is made of; without one, profiles.yml of the project')),
  adapter: Type.Optional(Line('Adapter of dbt, such as `postgres`, where several are installed')),
  profile_args: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Laid over the profile: `schema`, `threads` …' }),
  ),
  target: Type.Optional(Line('Name of the target')),
  tests: Type.Optional(
    OneOf(
      ['after_each', 'build', 'after_all', 'none'],
      'When tests run: in a task after each node, in the same task, in one task at the end, or not at all',
    ),
  ),
  source_freshness: Type.Optional(
    Type.Boolean({ description: 'Adds a task for each source that says how old it may be' }),
  ),
  vars: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'As after `--vars`; may be templates' }),
  ),
  full_refresh: Type.Optional(
    Type.Union([Type.Boolean(), Line('A template')], { description: 'Incremental models and seeds are made anew' }),
  ),
  retry: Type.Optional(
    OneOf(['failed', 'all'], 'What another try of a task runs; `failed` by default, as `dbt retry`'),
  ),
  artifacts: Type.Optional(Line('Folder or object store that manifest.json and run_results.json are written to')),
  upstream: Type.Optional(Names('Tasks of the DAG file that come before the group')),
  downstream: Type.Optional(Names('Tasks of the DAG file that come after the group')),
};

const ProjectDir = Type.String({
  pattern: String.raw`^(?!/)(?!.*(^|/)\.\.(/|$))[^\r\n\u0000\\]+$`,
  maxLength: 1_024,
  description: 'Folder of the dbt project, relative to svc.yaml',
});

const closed = { additionalProperties: false };

export const DbtProject = Type.Object(
  {
    project_dir: Type.Optional(ProjectDir),
    schedule: Type.Optional(Line('Cron expression or preset, for a project without a DAG file')),
    ...Shared,
  },
  { ...closed, description: 'A dbt project as the group `dbt`, or as the whole DAG where there is no DAG file' },
);
export const DbtGroup = Type.Object(
  { project_dir: ProjectDir, ...Shared },
  { ...closed, description: 'A dbt project as a group of the DAG' },
);

export type DbtSettings = {
  dbt?: Static<typeof DbtProject> | undefined;
  dbt_groups?: Record<string, Static<typeof DbtGroup>> | undefined;
};

/** Returns what the compiler needs to add the dbt groups, or undefined if there are none. */
export function dbtGroups(
  project: DbtSettings & { dag_id: string; description?: string | undefined },
): object | undefined {
  const { dbt, dbt_groups: named = {} } = project;
  const groups = [
    ...(dbt === undefined ? [] : [['dbt', 'dbt', dbt] as const]),
    ...Object.entries(named).map(([id, group]) => [id, `dbt_groups.${id}`, group] as const),
  ];
  if (groups.length === 0) return undefined;
  return {
    dag_id: project.dag_id,
    description: project.description,
    schedule: dbt?.schedule,
    groups: Object.fromEntries(groups.map(([id, key, group]) => [id, { key, ...partsOf(group) }])),
  };
}

function partsOf(group: Static<typeof DbtProject>): object {
  const { schedule: _ofTheDag, upstream, downstream, ...given } = group;
  return { upstream, downstream, arguments: { project_dir: '.', ...given } };
}

/** Finds the key of the group in a message of the compiler, which starts with that key. */
export function dbtKeyIn(message: string): string[] | undefined {
  const found = /^(?:(?<one>dbt)|dbt_groups\.(?<id>[^:.\s]+))(?:\.\w+)?: /.exec(message)?.groups;
  if (found === undefined) return undefined;
  return found['one'] ? ['dbt'] : ['dbt_groups', found['id'] ?? ''];
}
