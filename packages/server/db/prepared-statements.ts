/**
 * Decides which statements are prepared: parsed and planned once per connection instead of at every execution. This
 * saves most of the processor time that Postgres needs for the check of a token, which runs at every request.
 *
 * Only repeated statements are worth it, and each costs memory in every backend, so both are limited.
 */

const PREPARE_AFTER = 5;
const MAX_PREPARED = 150;
/** Statements that differ each time (lists of any length) must not fill the memory of seen statements. */
const MAX_REMEMBERED = 1_000;
const MAX_LENGTH = 4_000;

export type StatementNames = {
  /** Returns the name under which to prepare it, or undefined to send it unprepared. */
  nameFor(sql: string): string | undefined;
  /** Prepares no further statements. */
  stop(): void;
};

export function createStatementNames(): StatementNames {
  const names = new Map<string, string>();
  const seen = new Map<string, number>();
  let stopped = false;
  return {
    nameFor(sql) {
      if (stopped) return undefined;
      const name = names.get(sql);
      if (name !== undefined || names.size >= MAX_PREPARED || sql.length > MAX_LENGTH) return name;
      const times = (seen.get(sql) ?? 0) + 1;
      if (times < PREPARE_AFTER) {
        if (seen.size >= MAX_REMEMBERED) seen.clear();
        seen.set(sql, times);
        return undefined;
      }
      seen.delete(sql);
      const fresh = `svc_${names.size}`;
      names.set(sql, fresh);
      return fresh;
    },
    stop() {
      stopped = true;
    },
  };
}

/** A migration changed a table under a prepared `select *`. The statement works again after it is prepared again. */
export const isOutdatedStatement = (error: unknown): boolean =>
  codeOf(error) === '0A000' && (error as Error).message.includes('cached plan must not change result type');

/** The session is not the one in which it was prepared: a pooler has assigned another one. */
export const isForeignSession = (error: unknown): boolean => ['26000', '42P05'].includes(codeOf(error));

const codeOf = (error: unknown): string => (error instanceof Error && 'code' in error ? String(error.code) : '');
