/**
 * Names of base images, for the programs that build them, build on them and run them:
 *
 *   <repository>:<Python line>-<version>
 */

/** The default of `executor.base_image_repository`. */
export const DEFAULT_BASE_REPOSITORY = 'svc-base';

/** A repository without a tag or a digest. */
export const BASE_REPOSITORY = /^[a-z0-9][A-Za-z0-9._/-]*(?::\d+\/[a-z0-9][A-Za-z0-9._/-]*)?$/;

export const baseImageName = (repository: string, line: string, version: string): string =>
  `${repository}:${line}-${version}`;
