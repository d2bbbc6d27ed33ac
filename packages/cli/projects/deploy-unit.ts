/** Deploys one compiled project or file: first its image, then every DAG that it defines. */
import { join } from 'node:path';
import type { CompiledUnit } from '@svc/compiler/compile-unit.ts';
import type { Registrar } from '@svc/compiler/sync-workspace.ts';
import type { ToolName } from '../build/container-tool.ts';
import type { CliContext } from '../context.ts';
import { buildProject, isProject } from './build-project.ts';
import { gitBundle } from './git-bundle.ts';

export type DeployedDag = {
  dag_id: string;
  status: 'created' | 'unchanged';
  version_number: number;
  image: string | null;
};

export type DeployedUnit = { dags: DeployedDag[]; warnings: string[] };

export type DeployOptions = {
  readonly registrar: Registrar;
  readonly nextVersion: (dagId: string) => Promise<number>;
  /** Undefined builds an image wherever `registry.url` is set. */
  readonly build: boolean | undefined;
  readonly builder: ToolName | undefined;
  readonly baseRepository: string | undefined;
  /**
   * Images of repositories by root folder, because all DAGs of a repository share one image. All units of a deployment
   * must use the same map.
   */
  readonly repositoryImages: Map<string, Promise<UnitImage>>;
  /** By name of a unit, the image that it already has. Then none is built. */
  readonly imagesOfBefore?: ReadonlyMap<string, string | undefined> | undefined;
  readonly say: (text: string) => void;
  readonly signal: AbortSignal;
};

type UnitImage = { reference: string | undefined; warnings: string[] };

export async function deployUnit(
  context: CliContext,
  unit: Extract<CompiledUnit, { ok: true }>,
  options: DeployOptions,
): Promise<DeployedUnit> {
  const { registrar, say, signal } = options;
  const { version, url } = await gitBundle({ directory: unit.unit.root, env: context.env });
  const image = await sharedImageOf(context, unit, options);
  const dags: DeployedDag[] = [];
  for (const artifact of unit.artifacts) {
    signal.throwIfAborted();
    say(`registering ${artifact.dagId}`);
    const { versionNumber, isNew } = await registrar.register(artifact.dagId, {
      ...artifact,
      bundleName: unit.bundleName,
      bundleVersion: version,
      bundleUrl: url,
      fileloc: join(unit.unit.root, unit.source),
      image: image.reference,
      parseSeconds: unit.seconds,
    });
    dags.push({
      dag_id: artifact.dagId,
      status: isNew ? 'created' : 'unchanged',
      version_number: versionNumber,
      image: image.reference ?? null,
    });
  }
  return { dags, warnings: image.warnings };
}

async function sharedImageOf(
  context: CliContext,
  unit: Extract<CompiledUnit, { ok: true }>,
  options: DeployOptions,
): Promise<UnitImage> {
  const { repository, name } = unit.unit;
  if (options.imagesOfBefore) return { reference: options.imagesOfBefore.get(name), warnings: [] };
  if (!repository) return imageOf(context, unit, options);
  const known = options.repositoryImages.get(repository.root);
  const image = known ?? imageOf(context, unit, options);
  options.repositoryImages.set(repository.root, image);
  // Warnings are reported only once.
  return known ? { ...(await image), warnings: [] } : image;
}

async function imageOf(
  context: CliContext,
  unit: Extract<CompiledUnit, { ok: true }>,
  options: DeployOptions,
): Promise<UnitImage> {
  if (!isProject(unit)) {
    const warnings = options.build === true ? ['a plain DAG file has no image: make it a project with svc.yaml'] : [];
    return { reference: undefined, warnings };
  }
  const hasRegistry = unit.project.registry.url !== undefined;
  if (!(options.build ?? hasRegistry)) return { reference: undefined, warnings: [] };
  options.say('building the image');
  const { reference, warnings } = await buildProject(context, unit, {
    push: hasRegistry,
    builder: options.builder,
    baseRepository: options.baseRepository,
    nextVersion: options.nextVersion,
    onLine: options.say,
    signal: options.signal,
  });
  const local = hasRegistry ? [] : [`registry.url is not set, so ${reference} is on this machine only`];
  return { reference, warnings: [...warnings, ...local] };
}
