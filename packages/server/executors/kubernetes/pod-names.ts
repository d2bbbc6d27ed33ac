/**
 * How pods and attempts refer to each other. The name derives from the attempt, so a repeated create finds the first
 * pod (409). Labels are for people and selectors, and have limits on length and characters. The annotation contains the
 * identity that is read back.
 */
import { createHash } from 'node:crypto';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { compileWhenUsed } from '../../compile-when-used.ts';

/** What identifies an attempt. `run` is `dag_runs.id`. */
export const ATTEMPT_FIELDS = {
  tenantId: Type.String(),
  dagId: Type.String(),
  run: Type.Number(),
  taskId: Type.String(),
  mapIndex: Type.Number(),
  tryNumber: Type.Number(),
  versionNumber: Type.Number(),
  attemptId: Type.String(),
};
const PodIdentity = Type.Object({
  kind: Type.Enum(['task', 'callback', 'triggerer']),
  ...ATTEMPT_FIELDS,
  /** The number of the dispatch of the attempt, from 1. */
  dispatch: Type.Number(),
});
export type PodIdentity = Static<typeof PodIdentity>;

const Identity = compileWhenUsed(PodIdentity);

export const LABEL = {
  managedBy: 'app.kubernetes.io/managed-by',
  /** Several control planes may share a namespace. Each handles only its own pods. */
  installation: 'svc.dev/installation',
  tenant: 'svc.dev/tenant',
  dag: 'svc.dev/dag',
  run: 'svc.dev/run',
  task: 'svc.dev/task',
  try: 'svc.dev/try',
  attempt: 'svc.dev/attempt',
} as const;

const IDENTITY = 'svc.dev/identity';
/** Annotation: the process that created the pod and manages it. */
export const OWNER = 'svc.dev/owner';

/** The first dispatch has the plain name. A pod that failed to start may still exist when the next one is created. */
export const podName = ({ attemptId, dispatch }: Pick<PodIdentity, 'attemptId' | 'dispatch'>): string =>
  dispatch === 1 ? `svc-${attemptId}` : `svc-${attemptId}-${dispatch}`;

/** An id that all processes of one control plane share without communication, because it derives from their secret. */
export const installationId = (secret: string): string =>
  createHash('sha256').update(`installation of pods\0${secret}`).digest('hex').slice(0, 16);

export function podLabels(identity: PodIdentity, names: { installation: string; runId: string }) {
  return {
    [LABEL.managedBy]: 'svc',
    [LABEL.installation]: names.installation,
    [LABEL.tenant]: identity.tenantId,
    [LABEL.dag]: labelValue(identity.dagId),
    [LABEL.run]: labelValue(names.runId),
    [LABEL.task]: labelValue(identity.taskId),
    [LABEL.try]: String(identity.tryNumber),
    [LABEL.attempt]: identity.attemptId,
  };
}

export const podAnnotations = (identity: PodIdentity, { runId, owner }: { runId: string; owner: string }) => ({
  [OWNER]: owner,
  [LABEL.dag]: identity.dagId,
  [LABEL.run]: runId,
  [LABEL.task]: identity.mapIndex >= 0 ? `${identity.taskId}[${identity.mapIndex}]` : identity.taskId,
  [IDENTITY]: JSON.stringify(identity),
});

/** Returns undefined when the annotation was changed, or the pod is not ours. */
export function identityOf(annotations: Readonly<Record<string, string>> | undefined): PodIdentity | undefined {
  try {
    const value: unknown = JSON.parse(annotations?.[IDENTITY] ?? '');
    return Identity.Check(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const MAX_LABEL = 63;
const LABEL_VALUE = /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/**
 * Turns a text that may not be a label into its valid characters and a hash, so that different texts stay different.
 */
export function labelValue(text: string): string {
  if (text.length <= MAX_LABEL && LABEL_VALUE.test(text)) return text;
  const hash = createHash('sha256').update(text).digest('hex').slice(0, 10);
  const readable = text.replace(/[^-A-Za-z0-9_.]+/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  return `${readable.slice(0, MAX_LABEL - hash.length - 1).replace(/[^A-Za-z0-9]+$/, '') || 'x'}-${hash}`;
}
