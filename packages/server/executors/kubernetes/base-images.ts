/**
 * Chooses the name by which pods request a base image. A tag may have moved, so the kubelet asks the registry for each
 * pod that names one, one pod after another; a digest is read from its disk. The first pod therefore names the tag.
 * Pods of the next minutes name the digest that the first one got. They all run the same image even if the tag moves.
 */
import { TASK_CONTAINER } from './pod-verdict.ts';
import type { SeenPod } from './pod-watch.ts';

export type BaseImages = {
  /** Returns the image for a Python line. */
  nameOf(line: string): string;
  /** Reads the image from a pod that the watch reports. */
  learn(pod: SeenPod): void;
};

/** A base that was published again under its tag is used after this time. */
const KEPT_MS = 10 * 60_000;
/** Some runtimes prefix `docker-pullable://`. An id of another form names nothing that can be pulled. */
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
        // The digest may have been removed from the registry. The tag names an existing image.
        for (const [tag, known] of pinned) if (known.image === image) pinned.delete(tag);
        return;
      }
      const digest = PULLED.exec(container.imageID)?.[1];
      if (digest === undefined || !tags.has(image) || !digest.startsWith(`${repositoryOf(image)}@`)) return;
      // Takes the digest of the youngest pod: an old pod may have started with an earlier image of the tag.
      const created = Date.parse(createdAt);
      if (created > (pinned.get(image)?.createdAt ?? 0)) pinned.set(image, { image: digest, createdAt: created });
    },
  };
}

const repositoryOf = (image: string): string => image.replace(/:[^:/]+$/, '');
