/**
 * The way of one control plane to Postgres, which can be broken at any step. A step is a statement that leaves, or an answer that
 * arrives; the seam is the driver's `query`, so everything above it is the product.
 *
 *   stop   the process ends before the step: nothing leaves or arrives from then on, and its connections are cut
 *   drop   the answer gets lost and the connection with it; the process lives, and the statement was carried out
 *
 * What had left before is always carried out before the connection is cut. So what Postgres knows depends on the step alone.
 */
import pg from 'pg';

type Callback = (error: Error | null, result?: unknown) => void;
type Query = { text: string };

/** A statement by its text, and which of those with the same text it is: the same in every run, whatever else is under way. */
export type Step = { readonly phase: 'sent' | 'answered'; readonly text: string; readonly time: number };
export type Break = { readonly kind: 'stop' | 'drop'; readonly at: Step };

export type BreakableLine = {
  /** Connections made with it are of this line. */
  readonly url: string;
  /** From now on steps are counted, and the break may happen. */
  arm(fault?: Break): void;
  disarm(): void;
  /** Since it was armed. */
  readonly steps: readonly Step[];
  isBroken(): boolean;
  isStopped(): boolean;
  /** Resolves when the process has stopped, which a drop does not bring about. */
  readonly stopped: Promise<void>;
  forget(): void;
};

export const nameOf = ({ phase, text, time }: Step): string =>
  `${phase} ${text.replaceAll(/\s+/g, ' ').trim().slice(0, 90)} (${time})`;

type Connection = { client: pg.Client; underWay: number; lost: Callback[] | null };
type Line = {
  query(connection: Connection, send: (callback: Callback) => void, text: string, callback: Callback): void;
};

const lines = new Map<string, Line>();
const connections = new WeakMap<pg.Client, Connection>();
const LOST = 'Connection terminated unexpectedly';

let original: ((...args: unknown[]) => unknown) | undefined;

/** Statements of all other connections go through untouched. */
function takeOver(): void {
  if (original) return;
  const send = pg.Client.prototype.query as (...args: unknown[]) => unknown;
  original = send;
  const patched = function (this: pg.Client, ...args: unknown[]): unknown {
    const [query, callback] = args;
    const name = (this as unknown as { connectionParameters: { application_name?: string } }).connectionParameters;
    const line = lines.get(name.application_name ?? '');
    if (!line || typeof callback !== 'function') return send.apply(this, args);
    const connection = connections.get(this) ?? { client: this, underWay: 0, lost: null };
    connections.set(this, connection);
    const text = typeof query === 'string' ? query : (query as Query).text;
    line.query(connection, (answered) => send.call(this, query, answered), text, callback as Callback);
    return undefined;
  };
  Object.assign(pg.Client.prototype, { query: patched });
}

function giveBack(): void {
  if (lines.size > 0 || !original) return;
  Object.assign(pg.Client.prototype, { query: original });
  original = undefined;
}

/** As soon as everything that had left is carried out: Postgres must not guess whether it may go on. */
function cutWhenQuiet(connection: Connection): void {
  if (connection.underWay > 0) return;
  connection.client.connection.stream.destroy();
  const lost = connection.lost ?? [];
  connection.lost = [];
  for (const callback of lost) callback(Object.assign(new Error(LOST), { code: 'ECONNRESET' }));
}

let made = 0;

export function openBreakableLine(databaseUrl: string): BreakableLine {
  const name = `breakable ${(made += 1)}`;
  const url = new URL(databaseUrl);
  url.searchParams.set('application_name', name);
  let isArmed = false;
  let isBroken = false;
  let fault: Break | undefined;
  let steps: Step[] = [];
  const times = new Map<string, number>();
  const { promise: stopped, resolve: stop } = Promise.withResolvers<void>();
  let isStopped = false;

  /** Notes the step; true when it is the one at which the line breaks. */
  function reach(phase: Step['phase'], text: string): boolean {
    if (!isArmed || isBroken) return false;
    const time = (times.get(phase + text) ?? 0) + 1;
    times.set(phase + text, time);
    steps.push({ phase, text, time });
    const at = fault?.at;
    isBroken = at?.phase === phase && at.text === text && at.time === time;
    return isBroken;
  }

  function breakAt(connection: Connection): void {
    if (fault?.kind === 'drop') connection.lost = [];
    else {
      isStopped = true;
      stop();
    }
  }

  takeOver();
  lines.set(name, {
    query(connection, send, text, callback) {
      if (isStopped) return cutWhenQuiet(connection);
      if (reach('sent', text)) {
        breakAt(connection);
        return cutWhenQuiet(connection);
      }
      if (connection.lost) {
        connection.lost.push(callback);
        return cutWhenQuiet(connection);
      }
      connection.underWay += 1;
      send((error, result) => {
        connection.underWay -= 1;
        if (isStopped) return cutWhenQuiet(connection);
        if (!connection.lost && reach('answered', text)) breakAt(connection);
        if (connection.lost) connection.lost.push(callback);
        else if (!isStopped) return callback(error, result);
        cutWhenQuiet(connection);
      });
    },
  });

  return {
    url: url.toString(),
    arm(wanted) {
      isArmed = true;
      fault = wanted;
      steps = [];
      times.clear();
    },
    disarm: () => void (isArmed = false),
    get steps() {
      return steps;
    },
    isBroken: () => isBroken,
    isStopped: () => isStopped,
    stopped,
    forget() {
      lines.delete(name);
      giveBack();
    },
  };
}
