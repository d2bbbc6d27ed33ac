/** Checks a compiled artifact and computes its content hash, before any transaction begins. */
import { contentOf } from '@svc/spec/content-hash.ts';
import { readPodOverride } from '@svc/spec/project/pod-override.ts';
import type { OverridePolicy } from '@svc/spec/project/pod-override.ts';
import { ProviderReportError, readProviders } from '@svc/spec/installed-providers.ts';
import type { CompiledSpec } from '@svc/spec/schema.ts';
import { timetableProblems } from '@svc/spec/timetables/validate.ts';
import { validateSpecInTurns } from '@svc/spec/validate.ts';
import type { Artifact } from './artifact.ts';

/** What an installation accepts. */
export type ArtifactPolicy = {
  /** With pods: the overrides of pods that authors may declare. */
  podPolicy?: OverridePolicy | undefined;
  /** The executors that `executor=` may name. If absent, it may name any. */
  executors?: readonly string[] | undefined;
};

/** An artifact that may be written. */
export type PreparedVersion = {
  dagId: string;
  artifact: Artifact;
  spec: CompiledSpec;
  /** The canonical text of the spec. */
  text: string;
  contentHash: string;
  isTimetableOwn: boolean;
  /** As they are stored. Undefined: the environment is unknown. Null: it has none. */
  providers: string | null | undefined;
  /** The path of its file in the bundle. Undefined: as in the spec. */
  file?: string;
  /** The tree of its runs. Undefined: it belongs to no bundle. */
  tree?: string | null;
};

export async function prepareVersion(
  dagId: string,
  artifact: Artifact,
  policy: ArtifactPolicy,
): Promise<{ prepared: PreparedVersion } | { problems: string[] }> {
  const checked = await checkSpec(artifact.spec, { dagId, ...policy });
  if ('problems' in checked) return checked;
  const listed = await providersOf(artifact);
  if ('problem' in listed) return { problems: [listed.problem] };
  const { text, hash, isTimetableOwn } = await contentOf(checked.spec, artifact.image);
  const { spec } = checked;
  return {
    prepared: { dagId, artifact, spec, text, contentHash: hash, isTimetableOwn, providers: listed.providers },
  };
}

/**
 * Returns the providers as they are stored. Undefined means that its environment is unknown; null means that it has
 * none.
 */
async function providersOf({
  providers,
}: Artifact): Promise<{ providers: string | null | undefined } | { problem: string }> {
  if (!providers) return { providers: undefined };
  try {
    return { providers: providers.length > 0 ? JSON.stringify(await readProviders(providers)) : null };
  } catch (error) {
    if (error instanceof ProviderReportError) return { problem: error.message };
    throw error;
  }
}

/** Checks the shape and the references first, because only a valid spec has an id and a schedule. */
async function checkSpec(
  value: object,
  {
    dagId,
    podPolicy,
    executors,
  }: { dagId: string; podPolicy?: OverridePolicy | undefined; executors?: readonly string[] | undefined },
): Promise<{ spec: CompiledSpec } | { problems: string[] }> {
  const shapeProblems = await validateSpecInTurns(value);
  if (shapeProblems.length > 0) return { problems: shapeProblems };
  const spec = value as CompiledSpec; // the validation above proves the type
  const problems = [
    ...(spec.dag.dag_id === dagId ? [] : [`the spec is of DAG ${spec.dag.dag_id}, not of ${dagId}`]),
    ...timetableProblems(spec.schedule).map(({ path, message }) => `schedule${path}: ${message}`),
    ...(podPolicy ? overrideProblems(spec, podPolicy) : []),
    ...(executors ? executorProblems(spec, executors) : []),
    ...stubProblems(spec),
  ];
  return problems.length > 0 ? { problems } : { spec };
}

const overrideProblems = ({ tasks }: CompiledSpec, policy: OverridePolicy): string[] =>
  tasks.flatMap(({ task_id: taskId, executor_config: config }) =>
    readPodOverride(config, policy).problems.map((problem) => `task ${taskId}: ${problem}`),
  );

/** A stub only has its place in the graph. On Airflow, a coordinator runs it in another language. */
const stubProblems = ({ tasks }: CompiledSpec): string[] =>
  tasks.flatMap(({ task_id: taskId, operator }) =>
    operator.operator_name === '@task.stub'
      ? [
          `task ${taskId}: @task.stub has no runtime here, because there are no workers for other languages: start the program with @task.bash or in a container`,
        ]
      : [],
  );

const executorProblems = ({ tasks }: CompiledSpec, executors: readonly string[]): string[] =>
  tasks.flatMap(({ task_id: taskId, policy: { executor } }) =>
    executor === null || executors.includes(executor)
      ? []
      : [
          `task ${taskId}: executor=${JSON.stringify(executor)} names no executor of this installation, which has ${executors.join(', ')}: name one of them, leave it out for the default, or add it to executor.type`,
        ],
  );
