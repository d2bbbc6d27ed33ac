/**
 * The repository of base images for DAG images, for operators who mirror them or build their own (`svc images build`).
 */
import { BASE_REPOSITORY, DEFAULT_BASE_REPOSITORY } from '@svc/spec/project/base-images.ts';
import { usageError } from '../cli-error.ts';
import type { Environment } from '../context.ts';

/** The control plane's own key (`executor.base_image_repository`), so that one variable serves both. */
export const BASE_REPOSITORY_VARIABLE = 'SVC_EXECUTOR_BASE_IMAGE_REPOSITORY';

export type BaseRepositoryOption = { baseRepository?: string };

export function baseRepositoryOf(env: Environment, { baseRepository }: BaseRepositoryOption): string {
  const named =
    baseRepository === undefined
      ? { value: env[BASE_REPOSITORY_VARIABLE] || DEFAULT_BASE_REPOSITORY, from: BASE_REPOSITORY_VARIABLE }
      : { value: baseRepository, from: '--base-repository' };
  if (BASE_REPOSITORY.test(named.value)) return named.value;
  throw usageError(
    `${named.from} is ${JSON.stringify(named.value)}: give a repository without a tag, such as registry.example.com/svc-base`,
  );
}
