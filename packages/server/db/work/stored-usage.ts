/** The text in `task_instances.usage` (migration 0049). The engine writes it (engine/shared/usage.ts). */

/** The stored text is this as JSON. All fields are absent until the first attempt of the try has ended. */
export type StoredUsage = {
  cpu?: number;
  run?: number;
  memory?: number;
  /** The sum over attempts of memory in GiB times seconds. */
  gib?: number;
  read?: number;
  written?: number;
  /** Seconds by reason: those of spec/wait-reasons.ts, `slot` and `dispatched`. */
  waits?: Readonly<Record<string, number>>;
};

export const readUsage = (stored: string | null): StoredUsage =>
  stored === null ? {} : (JSON.parse(stored) as StoredUsage);
