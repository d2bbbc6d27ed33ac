import { expect, it } from 'vitest';
import { createBaseImages } from './base-images.ts';
import type { SeenPod } from './pod-watch.ts';

const REPOSITORY = 'registry.example.com:5000/svc-base';
const TAG = `${REPOSITORY}:3.12-1.0.0`;
const START = Date.parse('2026-01-01T00:00:00Z');
const digest = (letter: string): string => `${REPOSITORY}@sha256:${letter.repeat(64)}`;

function pod(image: string, imageID: string, { minute = 0, waiting = '' } = {}): SeenPod {
  const state = waiting === '' ? {} : { waiting: { reason: waiting } };
  return {
    name: 'pod',
    uid: 'uid',
    resourceVersion: '1',
    createdAt: new Date(START + minute * 60_000).toISOString(),
    deletedAt: undefined,
    labels: {},
    annotations: {},
    nodeName: undefined,
    image,
    memoryLimit: undefined,
    deadlineSeconds: undefined,
    status: { containerStatuses: [{ name: 'task', image, imageID, ready: false, restartCount: 0, state }] },
  };
}

function start() {
  let minute = 0;
  const images = createBaseImages({
    tagged: (line) => `${REPOSITORY}:${line}-1.0.0`,
    now: () => START + minute * 60_000,
  });
  expect(images.nameOf('3.12')).toBe(TAG);
  return { ...images, at: (to: number) => void (minute = to) };
}

it('names the digest that a pod of the tag got, and the tag again after a while', () => {
  const { nameOf, learn, at } = start();
  learn(pod(TAG, '')); // not pulled yet
  expect(nameOf('3.12')).toBe(TAG);
  learn(pod(TAG, `docker-pullable://${digest('a')}`));
  expect(nameOf('3.12')).toBe(digest('a'));
  expect(nameOf('3.13')).toBe(`${REPOSITORY}:3.13-1.0.0`);
  at(9);
  expect(nameOf('3.12')).toBe(digest('a'));
  at(10);
  expect(nameOf('3.12')).toBe(TAG);
  learn(pod(TAG, digest('b'), { minute: 10 }));
  expect(nameOf('3.12')).toBe(digest('b'));
});

it('does not go back to what the tag was when an older pod began', () => {
  const { nameOf, learn } = start();
  learn(pod(TAG, digest('b'), { minute: 1 }));
  learn(pod(TAG, digest('a'), { minute: 0 }));
  expect(nameOf('3.12')).toBe(digest('b'));
});

it.each(['ErrImagePull', 'ImagePullBackOff'])('asks for the tag again when the digest cannot be had: %s', (waiting) => {
  const { nameOf, learn } = start();
  learn(pod(TAG, digest('a')));
  learn(pod('registry.example.com/other:1', '', { waiting }));
  expect(nameOf('3.12')).toBe(digest('a'));
  learn(pod(digest('a'), '', { waiting }));
  expect(nameOf('3.12')).toBe(TAG);
});

it.each([
  [
    'of an image that is none of ours',
    'registry.example.com/other:1',
    `registry.example.com/other@sha256:${'a'.repeat(64)}`,
  ],
  ['that names no repository', TAG, `sha256:${'a'.repeat(64)}`],
  ['of another repository', TAG, `mirror.example.com/svc-base@sha256:${'a'.repeat(64)}`],
])('takes no digest %s', (_what, image, id) => {
  const { nameOf, learn } = start();
  learn(pod(image, id));
  expect(nameOf('3.12')).toBe(TAG);
});
