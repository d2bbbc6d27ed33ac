/** Builds the image of a compiled project: chooses its tag, and warns of problems before tasks fail in it. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { canonicalHash } from '@svc/spec/canonical.ts';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import { buildImage } from '../build/build-image.ts';
import type { BuiltImage } from '../build/build-image.ts';
import type { ToolName } from '../build/container-tool.ts';
import { folderHash } from '../build/folder-hash.ts';
import { findProjectBuildFile } from '../build/project-build-file.ts';
import type { CliContext } from '../context.ts';
import { VERSION } from '../version.ts';

type CompiledOk = Extract<CompiledUnit, { ok: true }>;
/** Plain DAG files have no image, because nothing defines its content. */
export type CompiledProject = CompiledOk & { project: NonNullable<CompiledOk['project']> };

export const isProject = (unit: CompiledUnit): unit is CompiledProject => unit.ok && unit.project !== null;

export type BuildOptions = {
  readonly push: boolean;
  readonly builder?: ToolName | undefined;
  /** The repository of base images. Undefined means that of a release. */
  readonly baseRepository: string | undefined;
  /** Called only if the tag is the version. */
  readonly nextVersion: (dagId: string) => Promise<number>;
  readonly onLine?: (line: string) => void;
  readonly signal?: AbortSignal | undefined;
};

export async function buildProject(
  context: Pick<CliContext, 'env'>,
  unit: CompiledProject,
  options: BuildOptions,
): Promise<BuiltImage> {
  const { artifacts } = unit;
  const { repository } = unit.unit;
  const project = repository ? projectOfRepository(unit.project) : unit.project;
  // A file with several DAGs has one image. Its number is that of the DAG with the name of the project.
  const main = artifacts.find(({ dagId }) => dagId === project.dag_id) ?? artifacts[0];
  const needsNumber = project.registry.tag_strategy === 'version';
  const versionNumber = needsNumber && main ? await options.nextVersion(main.dagId) : undefined;
  const built = await buildImage({
    projectDirectory: unit.unit.root,
    project,
    groupDirectories: repository ? 'whole' : projectsOfGroups(unit),
    isRepository: repository !== undefined,
    ignoresBuildFile: repository?.hasAirflowImage,
    dbtProjects: projectsOfGroups(unit),
    hasNoSource:
      (project.dbt ?? project.dbt_groups) !== undefined && !existsSync(join(unit.unit.root, project.dag_source)),
    version: VERSION,
    baseRepository: options.baseRepository,
    tagSource: { versionNumber, contentHash: contentHash(unit) },
    push: options.push,
    builder: options.builder,
    env: context.env,
    onLine: options.onLine,
    signal: options.signal,
  });
  return { ...built, warnings: [...built.warnings, ...(repository ? [] : missingModules(unit))] };
}

/** These files of repositories are for developers. An image is pushed to a registry, so it must not contain them. */
const NOT_IN_IMAGES = ['.env', '.env.*', '.astro', 'airflow_settings.yaml', 'airflow_settings.yml'];

/** The image of a repository is not numbered by DAG versions, because only some of its DAGs may change. */
function projectOfRepository(project: CompiledProject['project']): CompiledProject['project'] {
  const { registry, exclude_paths: excluded } = project;
  const strategy = registry.tag_strategy === 'version' ? 'content' : registry.tag_strategy;
  return {
    ...project,
    registry: { ...registry, tag_strategy: strategy },
    exclude_paths: [...excluded, ...NOT_IN_IMAGES],
  };
}

const contentHash = ({ unit, artifacts, project }: CompiledProject): string =>
  unit.repository
    ? canonicalHash([folderHash(unit.root), project.dependencies, project.system_packages, unit.repository.env])
    : canonicalHash(artifacts.map(({ spec }) => spec));

/**
 * Returns the directories of transformation projects that task groups run. The image contains them next to the DAG
 * file.
 */
function projectsOfGroups({ artifacts }: CompiledProject): string[] {
  const named = artifacts.flatMap(({ spec }) => spec.groups.flatMap((group) => group.project_dir ?? []));
  return [...new Set(named)].sort();
}

/**
 * Warns of imported modules. The generated build file copies only the DAG file, so its modules are missing at run time.
 */
function missingModules({ unit, artifacts }: CompiledProject): string[] {
  if (findProjectBuildFile(unit.root) !== undefined) return [];
  const modules = new Set(artifacts.flatMap(({ spec }) => spec.source.modules.map(({ path }) => path)));
  if (modules.size === 0) return [];
  return [
    `the image has only the DAG file, but that imports ${[...modules].sort().join(', ')}: add a Dockerfile to the project that copies them`,
  ];
}
