/**
 * By what name pods ask for a base image. A tag may have moved, so for a pod that names one the kubelet asks the registry,
 * one pod after another; a digest it takes from its disk. So the first pod names the tag, and those of the next minutes
 * the digest that the cluster says the first one got: also the same for all of them, whatever happens to the tag meanwhile.
 */
import { TASK_CONTAINER } from './pod-verdict.ts';
import type { SeenPod } from './pod-watch.ts';

export type BaseImages = {
  /** For a Python line. */
  nameOf(line: string): string;
  /** What the watch says of any pod. */
  learn(pod: SeenPod): void;
};

/** A base that was published anew under its tag is used after so long. */
const KEPT_MS = 10 * 60_000;
/** Some runtimes put `docker-pullable://` before it; an id of another form names nothing that could be pulled. */
const PULLED = /^(?:[a-z-]+:\/\/)?([^@]+@sha256:[0-9a-f]{64})$/;
const NOT_PULLED = new Set(['ErrImagePull', 'ImagePullBackOff']);

type Pinned = { image: string; createdAt: number };

export function createBaseImages(input: { tagged: (line: string) => string; now?: () => number }): BaseImages {
  const { tagged, now = Date.now } = input;
  const tags = new Set<string>();
  const pinned = new Map<string, Pinned>();

  return {
    nameOf(line) {
      const tag = tagged(line);
      tags.add(tag);
      const known = pinned.get(tag);
      return known && now() - known.createdAt < KEPT_MS ? known.image : tag;
    },
    learn({ image = '', createdAt, status }) {
      const container = status.containerStatuses?.find(({ name }) => name === TASK_CONTAINER);
      if (!container) return;
      if (NOT_PULLED.has(container.state?.waiting?.reason ?? '')) {
        // Perhaps it was removed from the registry since: the tag names what is there.
        for (const [tag, known] of pinned) if (known.image === image) pinned.delete(tag);
        return;
      }
      const digest = PULLED.exec(container.imageID)?.[1];
      if (digest === undefined || !tags.has(image) || !digest.startsWith(`${repositoryOf(image)}@`)) return;
      // Of the youngest: one that has run for long may have begun with what the tag once was.
      const created = Date.parse(createdAt);
      if (created > (pinned.get(image)?.createdAt ?? 0)) pinned.set(image, { image: digest, createdAt: created });
    },
  };
}

const repositoryOf = (image: string): string => image.replace(/:[^:/]+$/, '');
