/**
 * Log lines for the operator on standard error, because standard output belongs to the protocol. Tokens are never
 * logged.
 */
import { nowIso } from '@svc/spec/clock.ts';
import { safeText } from '@svc/spec/text/safe-text.ts';

export type Log = {
  info(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  error(message: string, facts?: Facts): void;
};

type Facts = Record<string, string | number | boolean | null | undefined>;

export function createLog(write: (line: string) => void): Log {
  const at =
    (level: string) =>
    (message: string, facts: Facts = {}) => {
      const cleaned = Object.entries(facts).flatMap(([name, value]) => {
        if (value === undefined) return [];
        // Clients choose ids and names. A line break in one must not start a new log line.
        return [[name, typeof value === 'string' ? safeText(value, 500) : value]];
      });
      write(`${JSON.stringify({ time: nowIso(), level, msg: message, ...Object.fromEntries(cleaned) })}\n`);
    };
  return { info: at('info'), warn: at('warn'), error: at('error') };
}
