/**
 * Separates "the database is unreachable" from every other database error: it is answered with 503 and worth a retry.
 * The pool recognises it by the errors of the driver and of Postgres, and throws `DatabaseUnavailableError`. All other
 * code calls `isOutage`, so that a refused connection to some other service never counts as an outage of the database.
 */

export class DatabaseUnavailableError extends Error {
  /** False when waiting will not help: a wrong password, a database that does not exist. */
  readonly transient: boolean;
  /**
   * For the caller: what is wrong, and what to do. Without names of hosts and files, which only the operator's log may
   * contain.
   */
  readonly advice: string;

  constructor(cause: Error, transient: boolean) {
    super(`the database is not available: ${cause.message}`, { cause });
    this.transient = transient;
    this.advice = adviceFor(cause);
  }
}

const NOT_REACHABLE = 'the database is not reachable right now: try again shortly';

/** By error code of Postgres: it is reachable, but cannot do what it was asked. */
const ADVICE: Readonly<Record<string, string>> = {
  '53100': 'the disk of the database is full: nothing can be stored until somebody frees some space on it',
  '53200': 'the database is out of memory: try again shortly, or give its machine more',
  '53300': 'the database has no connection left: raise its max_connections, or lower database.max_open_conns',
  '25006': 'the database is read-only right now: try again shortly, or point database.url at the primary server',
};

function adviceFor(cause: Error): string {
  const code = 'code' in cause ? String(cause.code) : '';
  if (Object.hasOwn(ADVICE, code)) return ADVICE[code] ?? NOT_REACHABLE;
  if (code.startsWith('58')) return 'the database cannot use its disk: somebody has to look at its log and its machine';
  return NOT_REACHABLE;
}

/** The database is reachable, but the caller got no connection in the longest time that it may wait for one. */
export class DatabaseBusyError extends Error {
  constructor(reason = 'all connections to the database are in use') {
    super(reason);
  }
}

export const isOutage = (error: unknown): error is DatabaseUnavailableError =>
  error instanceof DatabaseUnavailableError;

const NODE_ERRORS = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ERR_STREAM_DESTROYED',
]);

const POSTGRES_ERRORS = new Set([
  '57P01', // admin shutdown, or our backend was terminated
  '57P02', // another backend crashed and took all with it
  '57P03', // starting up, shutting down, recovering
  '57P05', // idle session timeout
  '25P03', // idle-in-transaction timeout: Postgres has closed that session
  '25006', // read-only: the server has become a standby, and we must reconnect
]);

/** 08: every connection exception. 53: out of connections, disk or memory. 58: an I/O error below Postgres. */
const POSTGRES_CLASSES = /^(08|53|58)[0-9A-Z]{3}$/;

// pg reports these as plain errors without a code.
const PG_MESSAGES = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed',
  'Cannot use a pool after calling end on the pool',
];

/** True when an error of the driver means that the database is unreachable, and not that it refused. */
export function meansOutage(error: unknown): error is Error {
  if (!(error instanceof Error)) return false;
  if (error.message.startsWith('unsupported startup parameter')) return false; // a pooler, which will refuse again
  if (error instanceof AggregateError && error.errors.some(meansOutage)) return true; // happy-eyeballs connects
  const code = 'code' in error ? String(error.code) : '';
  if (NODE_ERRORS.has(code) || POSTGRES_ERRORS.has(code) || POSTGRES_CLASSES.test(code)) return true;
  // The Unix socket does not exist, so its server is not running.
  if (code === 'ENOENT' && 'syscall' in error && error.syscall === 'connect') return true;
  return PG_MESSAGES.some((message) => error.message.startsWith(message));
}
