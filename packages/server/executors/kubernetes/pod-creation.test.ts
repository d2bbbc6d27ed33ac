import { describe, expect, it } from 'vitest';
import { eventually } from '@svc/testing/eventually.ts';
import { podIdentity } from '@svc/testing/kubernetes/pod-identity.ts';
import { DatabaseUnavailableError } from '../../db/outage.ts';
import { createPodCreation } from './pod-creation.ts';
import type { CreateAnswer } from './pod-requests.ts';

const LATER: CreateAnswer = { kind: 'later', wait: { reason: 'pod_refused', detail: 'quota' }, afterMs: undefined };

/** Pods by what becomes of them. */
function plant(create: (attemptId: string) => Promise<CreateAnswer>, concurrency = 1, passesWithinMs = 60_000) {
  const said: string[] = [];
  const unwanted = new Set<string>();
  const creation = createPodCreation({ create: ({ attemptId }) => create(attemptId), concurrency, passesWithinMs });
  const add = (attemptId: string): void =>
    creation.add({
      identity: podIdentity({ attemptId }),
      isWanted: () => !unwanted.has(attemptId),
      onCreated: () => said.push(`${attemptId} created`),
      onRefused: ({ cause }) => said.push(`${attemptId} ${cause}`),
      onWait: ({ reason }) => said.push(`${attemptId} ${reason}`),
    });
  return { add, said, unwanted, close: () => creation.close() };
}

describe('the creation of pods', () => {
  it('lets others go ahead of one that has to wait, and tries that again until it works', async () => {
    let isFull = true;
    const { add, said, close } = plant(async (id) => (id === 'a' && isFull ? LATER : { kind: 'created' }));
    add('a');
    add('b');
    await eventually(() => said.includes('b created'));
    expect(said).toEqual(['a pod_refused', 'b created']);
    isFull = false;
    await eventually(() => said.includes('a created'));
    close();
  });

  it('does not believe a cluster that has just started and knows no roles yet, and does after a while', async () => {
    const forbidden: CreateAnswer = {
      kind: 'refused',
      failure: { cause: 'pod_refused', text: 'no role' },
      mayPass: true,
    };
    let isStarting = true;
    const patient = plant(async () => (isStarting ? forbidden : { kind: 'created' }));
    patient.add('a');
    await eventually(() => patient.said.length >= 2);
    isStarting = false;
    await eventually(() => patient.said.includes('a created'));
    const believing = plant(async () => forbidden, 1, 0);
    believing.add('b');
    await eventually(() => believing.said.length > 0);
    expect(believing.said).toEqual(['b pod_refused']);
    patient.close();
    believing.close();
  });

  it('makes so many at once and no more, and none that nobody wants any more', async () => {
    let [now, most] = [0, 0];
    const { add, said, unwanted, close } = plant(async () => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((resolve) => setTimeout(resolve, 1));
      now -= 1;
      return { kind: 'created' };
    }, 3);
    unwanted.add('5');
    for (let index = 0; index < 20; index += 1) add(String(index));
    await eventually(() => said.length === 19);
    expect([most, said.includes('5 created')]).toEqual([3, false]);
    close();
  });

  it('waits for a database that is away: that is nothing of the pod’s', async () => {
    let isAway = true;
    const { add, said, close } = plant(async () => {
      if (isAway) throw new DatabaseUnavailableError(new Error('gone'), true);
      return { kind: 'created' };
    });
    add('a');
    await eventually(() => said.includes('a pod_waits'));
    isAway = false;
    await eventually(() => said.includes('a created'));
    close();
  });

  it('tells what can never work, and does nothing after its end', async () => {
    const { add, said, close } = plant(async () => {
      throw new Error('no such version');
    });
    add('a');
    await eventually(() => said.includes('a dispatch_failed'));
    close();
    add('b');
    await new Promise((resolve) => setImmediate(resolve));
    expect(said).toHaveLength(1);
  });
});
