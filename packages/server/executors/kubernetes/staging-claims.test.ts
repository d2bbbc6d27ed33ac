import type { V1PersistentVolumeClaim } from '@kubernetes/client-node';
import { describe, expect, it } from 'vitest';
import { ApiError } from './api-client.ts';
import { buildClaim, claimName, createStagingClaims, seenClaim } from './staging-claims.ts';
import type { StagingSettings } from './staging-claims.ts';

const INSTALLATION = '0123456789abcdef';
const TENANT = '0f0e0d0c-0b0a-4908-8706-050403020100';
const RUN = { tenantId: TENANT, run: 42, dagId: 'sales report', runId: 'manual__2026-01-01T00:00:00+00:00' };
const SETTINGS: StagingSettings = { accessMode: 'ReadWriteMany', size: '10Gi', storageClass: '', retentionMs: 1_000 };
const NOTHING_SAID = { size: null, storageClass: null };

const build = (staging = NOTHING_SAID as { size: string | null; storageClass: string | null }, settings = SETTINGS) =>
  buildClaim({ run: RUN, staging, settings, installation: INSTALLATION, namespace: 'tasks' });

describe('the claim of a run', () => {
  it('is named after the run and the control plane, and can be found again by its labels', () => {
    const claim = build();
    expect(claim?.metadata).toMatchObject({
      name: 'svc-staging-01234567-42',
      namespace: 'tasks',
      labels: {
        'app.kubernetes.io/managed-by': 'svc',
        'svc.dev/installation': INSTALLATION,
        'svc.dev/tenant': TENANT,
        'svc.dev/dag': expect.stringMatching(/^sales-report-[0-9a-f]{10}$/),
      },
      annotations: { 'svc.dev/dag': 'sales report', 'svc.dev/run': RUN.runId },
    });
    expect(
      seenClaim({ ...claim, metadata: { ...claim?.metadata, uid: 'u', resourceVersion: '7' } }, INSTALLATION),
    ).toEqual({ tenantId: TENANT, run: 42, name: 'svc-staging-01234567-42', uid: 'u', resourceVersion: '7' });
  });

  it('takes size and class from the DAG, and what it does not say from the operator', () => {
    expect(build()?.spec).toEqual({ accessModes: ['ReadWriteMany'], resources: { requests: { storage: '10Gi' } } });
    const operator = { ...SETTINGS, accessMode: 'ReadWriteOnce', storageClass: 'slow' };
    expect(build({ size: '1Gi', storageClass: null }, operator)?.spec).toEqual({
      accessModes: ['ReadWriteOnce'],
      resources: { requests: { storage: '1Gi' } },
      storageClassName: 'slow',
    });
    expect(build({ size: null, storageClass: 'fast' }, operator)?.spec?.storageClassName).toBe('fast');
  });

  it('is none of ours when its name, its tenant or its fate says so', () => {
    const claim = build() as V1PersistentVolumeClaim;
    const other = (metadata: object) => seenClaim({ metadata: { ...claim.metadata, ...metadata } }, INSTALLATION);
    expect(other({ name: 'svc-staging-01234567-x' })).toBeUndefined();
    expect(other({ name: claimName('fedcba9876543210', 42) })).toBeUndefined();
    expect(other({ labels: { 'svc.dev/tenant': "'; drop" } })).toBeUndefined();
    expect(other({ deletionTimestamp: new Date() })).toBeUndefined();
  });
});

/** A cluster that keeps claims and counts their versions. */
function createCluster(refuse: { post?: ApiError } = {}) {
  const claims = new Map<string, V1PersistentVolumeClaim>();
  const missing = (): ApiError => new ApiError({ status: 404, reason: 'NotFound', message: 'not found' });
  const nameOf = (path: string): string => path.split('/').at(-1) ?? '';
  let version = 0;
  const store = (claim: V1PersistentVolumeClaim): V1PersistentVolumeClaim => {
    version += 1;
    const stored = { ...claim, metadata: { uid: 'uid', ...claim.metadata, resourceVersion: String(version) } };
    claims.set(stored.metadata.name ?? '', stored);
    return stored;
  };
  const api = {
    get: async <T>(): Promise<T> => ({ items: [...claims.values()] }) as T,
    async post<T>(_path: string, claim: object): Promise<T> {
      if (refuse.post) throw refuse.post;
      return store(claim as V1PersistentVolumeClaim) as T;
    },
    async patch<T>(path: string, change: object): Promise<T> {
      const found = claims.get(nameOf(path));
      if (!found) throw missing();
      const { annotations } = (change as V1PersistentVolumeClaim).metadata ?? {};
      return store({ ...found, metadata: { ...found.metadata, annotations: { ...annotations } } }) as T;
    },
    async delete<T>(path: string, options?: object): Promise<T> {
      const found = claims.get(nameOf(path));
      if (!found) throw missing();
      const { preconditions } = options as { preconditions: { resourceVersion: string } };
      if (preconditions.resourceVersion !== found.metadata?.resourceVersion) {
        throw new ApiError({ status: 409, reason: 'Conflict', message: 'precondition failed' });
      }
      claims.delete(nameOf(path));
      return {} as T;
    },
  };
  return { api, claims, store };
}

const silent = { info() {}, warn() {}, error() {}, debug() {} };

const createClaims = (
  cluster: ReturnType<typeof createCluster>,
  more: Partial<Parameters<typeof createStagingClaims>[0]> = {},
) =>
  createStagingClaims({
    api: cluster.api,
    namespace: 'tasks',
    installation: INSTALLATION,
    settings: { ...SETTINGS, sweepEveryMs: 1 },
    findRunEnds: async () => new Map(),
    log: silent,
    ...more,
  });

describe('before a pod', () => {
  it('the claim is made once, and used by all pods of the run', async () => {
    const cluster = createCluster();
    const claims = createClaims(cluster);
    const ready = { kind: 'ready', name: 'svc-staging-01234567-42' };
    expect(await claims.ensure(RUN, NOTHING_SAID)).toEqual(ready);
    expect(await claims.ensure(RUN, NOTHING_SAID)).toEqual(ready);
    expect(cluster.claims.size).toBe(1);
  });

  it('one that is being removed is waited for', async () => {
    const cluster = createCluster();
    const claims = createClaims(cluster);
    await claims.ensure(RUN, NOTHING_SAID);
    const [claim] = cluster.claims.values();
    cluster.store({ ...claim, metadata: { ...claim?.metadata, deletionTimestamp: new Date() } });
    expect(await claims.ensure(RUN, NOTHING_SAID)).toMatchObject({ kind: 'later', wait: { reason: 'volume_pending' } });
  });

  it('without any size the dispatch is refused, and says what to set', async () => {
    const claims = createClaims(createCluster(), { settings: { ...SETTINGS, size: '' } });
    expect(await claims.ensure(RUN, NOTHING_SAID)).toMatchObject({
      kind: 'refused',
      failure: { text: expect.stringMatching(/staging\.size.*executor\.defaults\.staging\.size/) },
    });
  });

  it.each([
    ['a quota', 403, 'exceeded quota: storage', { kind: 'later', wait: { reason: 'volume_pending' } }],
    ['no role', 403, 'persistentvolumeclaims is forbidden', { kind: 'refused' }],
    ['a fault of the cluster', 500, 'etcd', { kind: 'later', wait: { reason: 'cluster_unreachable' } }],
  ])('%s is told as what it is', async (_what, status, message, expected) => {
    const cluster = createCluster({ post: new ApiError({ status, reason: '', message }) });
    expect(await createClaims(cluster).ensure(RUN, NOTHING_SAID)).toMatchObject(expected);
  });
});

describe('the removal', () => {
  const ends = new Map([[`${TENANT}/42`, { state: 'success' as const, endedForMs: 0 }]]);

  it('takes the claim of a run that succeeded', async () => {
    const cluster = createCluster();
    const claims = createClaims(cluster, { findRunEnds: async () => ends });
    await claims.ensure(RUN, NOTHING_SAID);
    claims.start();
    await expect.poll(() => cluster.claims.size).toBe(0);
    await claims.stop();
  });

  it('leaves one that a cleared run took up after the look at the run', async () => {
    const cluster = createCluster();
    let looks = 0;
    const claims = createClaims(cluster, {
      async findRunEnds() {
        looks += 1;
        if (looks === 1) await claims.ensure(RUN, NOTHING_SAID);
        return looks === 1 ? ends : new Map();
      },
    });
    await claims.ensure(RUN, NOTHING_SAID);
    claims.start();
    await expect.poll(() => looks).toBeGreaterThan(1);
    await claims.stop();
    expect(cluster.claims.size).toBe(1);
  });
});
