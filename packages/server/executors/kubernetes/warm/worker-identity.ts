/**
 * How pods and warm workers refer to each other. Any process of the control plane reads the identity back from the
 * annotation. Only the annotation decides what a worker may run, not what the worker reports.
 */
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { compileWhenUsed } from '../../../compile-when-used.ts';
import type { WorkerScope } from '../../../agents/credentials.ts';
import { LABEL, OWNER, labelValue } from '../pod-names.ts';

/** One pool: the workers that may run the same attempts. `shape`: what their pods are made of. */
const Pool = {
  tenantId: Type.String(),
  dagId: Type.String(),
  versionNumber: Type.Number(),
  shape: Type.String(),
};
const WarmIdentity = Type.Object({ workerId: Type.String(), ...Pool });
export type WarmIdentity = Static<typeof WarmIdentity>;
export type PoolIdentity = Omit<WarmIdentity, 'workerId'>;

const Identity = compileWhenUsed(WarmIdentity);

/** As a label it has the id of the worker, as an annotation the whole identity. */
export const WORKER = 'svc.dev/worker';
const POOL = 'svc.dev/pool';

export const workerPodName = (workerId: string): string => `svc-worker-${workerId}`;

export const poolKey = ({ tenantId, dagId, versionNumber, shape }: PoolIdentity): string =>
  `${tenantId}/${versionNumber}/${shape}/${dagId}`;

export const versionOf = ({ tenantId, dagId, versionNumber }: PoolIdentity): string =>
  `${tenantId}/${versionNumber}/${dagId}`;

/** The scope in its credential: the pool by its shape. */
export const scopeOf = ({ tenantId, dagId, versionNumber, shape }: PoolIdentity): WorkerScope => ({
  kind: 'warm',
  tenantId,
  pool: shape,
  dagId,
  versionNumber,
});

export const workerLabels = (identity: WarmIdentity, installation: string) => ({
  [LABEL.managedBy]: 'svc',
  [LABEL.installation]: installation,
  [LABEL.tenant]: identity.tenantId,
  [LABEL.dag]: labelValue(identity.dagId),
  [WORKER]: identity.workerId,
  [POOL]: identity.shape,
});

export const workerAnnotations = (identity: WarmIdentity, owner: string) => ({
  [OWNER]: owner,
  [LABEL.dag]: identity.dagId,
  [WORKER]: JSON.stringify(identity),
});

/** Returns undefined when the pod does not belong to a worker, or its annotation was changed. */
export function warmWorkerOf(annotations: Readonly<Record<string, string>> | undefined): WarmIdentity | undefined {
  const text = annotations?.[WORKER];
  if (text === undefined) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Identity.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
