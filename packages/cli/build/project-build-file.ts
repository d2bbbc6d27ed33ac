/**
 * A build file of the project is used unchanged. The keys of svc.yaml that configure our own build file then have no
 * effect.
 */
import { join } from 'node:path';
import { usageError } from '../cli-error.ts';
import type { Project } from './build-file.ts';
import { readIfPresent } from './ignore-file.ts';

const NAMES = ['Dockerfile', 'Containerfile'] as const;

export type ProjectBuildFile = { readonly name: string; readonly text: string };

export function findProjectBuildFile(directory: string): ProjectBuildFile | undefined {
  const found = NAMES.flatMap((name) => {
    const text = readIfPresent(join(directory, name));
    return text === undefined ? [] : [{ name, text }];
  });
  // Docker would use one file and podman the other. The image must not depend on the machine.
  if (new Set(found.map(({ text }) => text)).size > 1) {
    throw usageError(`${directory} has a Dockerfile and a Containerfile that differ`, 'Keep the one to build with.');
  }
  return found[0];
}

/** Tells an author which settings have no effect because of the project's own build file. */
export function overriddenKeys(project: Project, name: string): string[] {
  const keys = [
    ...(project.base_image === undefined ? [] : ['base_image']),
    ...(['dependencies', 'connectors', 'system_packages'] as const).filter((key) => project[key].length > 0),
  ];
  if (keys.length === 0) return [];
  const verb = keys.length === 1 ? 'has' : 'have';
  return [`${keys.join(', ')} ${verb} no effect: the image is built with the project's own ${name}`];
}
