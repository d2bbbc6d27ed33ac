/** Tells "the database is not there right now" from every other database error: the first is 503 and worth a retry. */

const NODE_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
]);

// Class 08 is every connection exception; 57P01..57P05 are shutdowns and start-ups; 53300 is "too many connections".
// 25P03 is the idle-in-transaction timeout: Postgres has closed that session.
const POSTGRES_ERRORS = new Set(['57P01', '57P02', '57P03', '57P05', '53300', '25P03']);

// pg reports these as plain errors without a code.
const PG_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Query read timeout',
  'Client has encountered a connection error',
  'Cannot use a pool after calling end on the pool',
];

export function isOutage(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof AggregateError && error.errors.some(isOutage)) return true; // happy-eyeballs connects
  const code = 'code' in error ? String(error.code) : '';
  if (NODE_ERRORS.has(code) || POSTGRES_ERRORS.has(code) || code.startsWith('08')) return true;
  return PG_MESSAGES.some((message) => error.message.startsWith(message));
}
