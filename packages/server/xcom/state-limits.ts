/** The limits of the state stores of tasks and assets, and what a caller is told who exceeds one. Pure. */
import type { Expiry } from '../db/task-instances/task-states.ts';

export type StateStoreLimits = {
  /** `state_store.max_value_bytes`. */
  maxValueBytes: number;
  /** `state_store.max_keys`: of one task instance, or of one asset. */
  maxKeys: number;
  /** `state_store.default_retention`. Zero or less: values never expire. */
  defaultRetentionMs: number;
};

export const stateLimitsOf = (config: { stateStore: ConfiguredStateStore }): StateStoreLimits => ({
  maxValueBytes: config.stateStore.maxValueBytes,
  maxKeys: config.stateStore.maxKeys,
  defaultRetentionMs: config.stateStore.defaultRetention,
});
type ConfiguredStateStore = { maxValueBytes: number; maxKeys: number; defaultRetention: number };

export const MAX_KEY_LENGTH = 512;

export const defaultExpiry = ({ defaultRetentionMs }: StateStoreLimits): Expiry =>
  defaultRetentionMs > 0 ? { inMs: defaultRetentionMs } : 'never';

export const keyProblem = (key: string): string | undefined =>
  key === '' || key.length > MAX_KEY_LENGTH ? `a key must have 1 to ${MAX_KEY_LENGTH} characters` : undefined;

/** `value` is JSON text. */
export function valueTooLarge(key: string, value: string, { maxValueBytes }: StateStoreLimits): string | undefined {
  const bytes = Buffer.byteLength(value);
  if (bytes <= maxValueBytes) return undefined;
  return (
    `the value of "${key.slice(0, 100)}" has ${bytes} bytes as JSON, more than the ${maxValueBytes} that ` +
    'state_store.max_value_bytes allows: store it elsewhere and keep its place'
  );
}

export const tooManyKeys = ({ maxKeys }: StateStoreLimits, owner: string): string =>
  `${owner} has ${maxKeys} keys, as many as state_store.max_keys allows: delete keys that are not needed, ` +
  'or keep several values under one key';
