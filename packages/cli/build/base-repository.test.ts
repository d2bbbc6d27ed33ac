import { expect, test } from 'vitest';
import { EXECUTOR_KEYS } from '@svc/server/config/keys-executor.ts';
import { BASE_REPOSITORY_VARIABLE, baseRepositoryOf } from './base-repository.ts';

test('the base repository is what the command line says, then what the control plane would read, then its default', () => {
  const env = { [BASE_REPOSITORY_VARIABLE]: 'registry.example.com:5000/svc-base' };
  expect(baseRepositoryOf(env, { baseRepository: 'mirror/svc-base' })).toBe('mirror/svc-base');
  expect(baseRepositoryOf(env, {})).toBe('registry.example.com:5000/svc-base');
  expect(baseRepositoryOf({ [BASE_REPOSITORY_VARIABLE]: '' }, {})).toBe(
    EXECUTOR_KEYS['executor.base_image_repository'].default,
  );
});

test('a repository with a tag is refused by name: the tag is ours to add', () => {
  expect(() => baseRepositoryOf({}, { baseRepository: 'svc-base:3.11' })).toThrow(
    /--base-repository is "svc-base:3.11"/,
  );
  expect(() => baseRepositoryOf({ [BASE_REPOSITORY_VARIABLE]: 'x@sha256:0' }, {})).toThrow(BASE_REPOSITORY_VARIABLE);
});
