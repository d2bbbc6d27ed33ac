/** A build file the project brings along is used as it is; the keys of svc.yaml that describe our own have no effect then. */
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
  // Docker would take the one and podman the other; which image comes out must not depend on the machine.
  if (new Set(found.map(({ text }) => text)).size > 1) {
    throw usageError(`${directory} has a Dockerfile and a Containerfile that differ`, 'Keep the one to build with.');
  }
  return found[0];
}

/** What to tell an author whose settings a build file of their own overrides. */
export function overriddenKeys(project: Project, name: string): string[] {
  const keys = [
    ...(project.base_image === undefined ? [] : ['base_image']),
    ...(['dependencies', 'connectors', 'system_packages'] as const).filter((key) => project[key].length > 0),
  ];
  if (keys.length === 0) return [];
  const verb = keys.length === 1 ? 'has' : 'have';
  return [`${keys.join(', ')} ${verb} no effect: the image is built with the project's own ${name}`];
}
