import { describe, expect, it } from 'vitest';
import { podIdentity } from '@svc/testing/kubernetes/pod-identity.ts';
import { identityOf, installationId, labelValue, podAnnotations, podLabels, podName } from './pod-names.ts';

const IDENTITY = podIdentity({
  dagId: 'sales',
  run: 7,
  taskId: 'load.into "table"',
  mapIndex: 3,
  tryNumber: 2,
  versionNumber: 4,
  attemptId: '0197e0a1-0000-7000-8000-000000000002',
});

describe('the name of a pod', () => {
  it('derives from the attempt, and from which dispatch of it this is', () => {
    expect(podName(IDENTITY)).toBe(`svc-${IDENTITY.attemptId}`);
    expect(podName({ ...IDENTITY, dispatch: 2 })).toBe(`svc-${IDENTITY.attemptId}-2`);
    expect(podName({ ...IDENTITY, dispatch: 3 }).length).toBeLessThanOrEqual(63);
  });
});

describe('what a pod says of its attempt', () => {
  it('is read back word for word; anything else is none of ours', () => {
    const annotations = podAnnotations(IDENTITY, { runId: 'manual__1', owner: 'me' });
    expect(identityOf(annotations)).toEqual(IDENTITY);
    for (const other of [undefined, {}, { 'svc.dev/identity': 'x' }, { 'svc.dev/identity': '{"kind":"task"}' }]) {
      expect(identityOf(other)).toBeUndefined();
    }
  });

  it('is in labels that Kubernetes accepts, different for different names', () => {
    const labels = podLabels(IDENTITY, {
      installation: installationId('secret'),
      runId: 'manual__2026-01-01T00:00:00+00:00',
    });
    for (const value of Object.values(labels))
      expect(value).toMatch(/^(?=.{1,63}$)[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$/);
    expect(labels['svc.dev/dag']).toBe('sales');
    const long = 'x'.repeat(250);
    expect(
      new Set([labelValue(`${long}a`), labelValue(`${long}b`), labelValue('a b'), labelValue('a-b'), labelValue('ä')])
        .size,
    ).toBe(5);
    expect(labelValue('')).toBe('');
  });

  it('belongs to one control plane, whose processes all find the same', () => {
    expect(installationId('one')).toBe(installationId('one'));
    expect(installationId('one')).not.toBe(installationId('two'));
  });
});
