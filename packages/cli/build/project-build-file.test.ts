import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadProject } from '@svc/spec/project/load.ts';
import type { Project } from './build-file.ts';
import { findProjectBuildFile, overriddenKeys } from './project-build-file.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-own-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

describe("the project's own build file", () => {
  it('is a Dockerfile or a Containerfile', () => {
    expect(findProjectBuildFile(directory)).toBeUndefined();
    writeFileSync(join(directory, 'Containerfile'), 'FROM a');
    expect(findProjectBuildFile(directory)).toEqual({ name: 'Containerfile', text: 'FROM a' });
    symlinkSync('Containerfile', join(directory, 'Dockerfile'));
    expect(findProjectBuildFile(directory)?.text).toBe('FROM a');
  });

  it('is not guessed when there are two: docker and podman would build different images', () => {
    writeFileSync(join(directory, 'Containerfile'), 'FROM a');
    writeFileSync(join(directory, 'Dockerfile'), 'FROM b');
    expect(() => findProjectBuildFile(directory)).toThrow(/has a Dockerfile and a Containerfile that differ/);
  });
});

describe('keys without effect', () => {
  const project = (fields: Record<string, unknown>): Project => {
    const loaded = loadProject(JSON.stringify(fields), 'orders');
    if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems));
    return loaded.project;
  };

  it('are named, so that an author does not wait for a dependency that never comes', () => {
    expect(overriddenKeys(project({}), 'Dockerfile')).toEqual([]);
    expect(overriddenKeys(project({ dependencies: ['pandas'] }), 'Dockerfile')).toEqual([
      "dependencies has no effect: the image is built with the project's own Dockerfile",
    ]);
    expect(
      overriddenKeys(project({ base_image: 'x', connectors: ['http'], system_packages: ['git'] }), 'Containerfile'),
    ).toEqual([
      "base_image, connectors, system_packages have no effect: the image is built with the project's own Containerfile",
    ]);
  });
});
