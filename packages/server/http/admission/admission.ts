/**
 * Decides which requests are served now, which wait, and which are refused. A burst of requests must not take the
 * process from the scheduler and its agents, from other tenants, or from other users.
 *
 *   arrives ──▶ served     at most `atOnce`; at most three quarters for one user, or for one of several tenants
 *          ├──▶ waits      at most `waiting`; served round robin between tenants, and in a tenant between its users
 *          └──▶ refused    429 when the user or the tenant has too many waiting, 503 when all tenants have as many
 *
 * While the process is saturated, it serves fewer at the same time: two of a single tenant, or one of each of several. A
 * tenant with few requests is served at once although others wait, and they wait a moment longer.
 *
 * This module is pure except for the clock that it is given. admission-server.ts handles the requests themselves.
 */
import { NO_TENANT, createTenantShare } from './tenant-share.ts';

export type Refusal = 'user' | 'tenant' | 'process';

/** The client for whom a request counts: a user of a tenant. */
export type Lane = { tenant: string; user: string };

/**
 * A request that wants to be served. Admission calls either `start` or `refuse`, once. After `leave` it calls neither.
 */
export type Entrant = { lane: Lane; start(): void; refuse(reason: Refusal): void };

/** Call `leave` when the request has been served, or when its client is gone. */
export type Place = { leave(): void };

export type AdmissionLimits = { atOnce: number; waiting: number };

export type Admission = {
  enter(entrant: Entrant): Place;
  usage(): { serving: number; waiting: number };
  close(): void;
};

export type AdmissionTools = {
  /** True while something more urgent is being done. Waiting requests then wait a moment longer. */
  isBusy(): boolean;
  /**
   * True while the event loop is busy most of the time. Serving more requests at once would then only make each of them
   * slower.
   */
  isSaturated(): boolean;
  now(): number;
  /** Calls back in a later turn of the event loop. */
  later(run: () => void, ms: number): void;
};

type Waiting = Entrant & { since: number };
type UserLane = { serving: number; waiting: Waiting[] };
type TenantLanes = {
  serving: number;
  waiting: number;
  users: Map<string, UserLane>;
  /** Users with waiting requests, in the order in which they are served. */
  turns: Set<string>;
};

/** Urgent work, or a tenant that asks for little, may delay waiting requests for this long. Then one of them is served anyway. */
const PATIENCE_MS = 25;
/** With Postgres on another processor, two requests keep this processor busy. */
const AT_ONCE_WHEN_SATURATED = 2;
/** A tenant with fewer requests being served, and none waiting, does not wait for others. */
const FEW = 2;
/** After this time clients have usually given up on the answer. */
const LONGEST_WAIT_MS = 15_000;
const LOOK_FOR_LATE_MS = 1_000;

export function createAdmission(limits: AdmissionLimits, tools: AdmissionTools): Admission {
  const perUser = { atOnce: threeQuarters(limits.atOnce), waiting: Math.max(1, Math.floor(limits.waiting / 4)) };
  const share = createTenantShare({ atOnce: limits.atOnce, most: threeQuarters(limits.atOnce) }, tools);
  const tenants = new Map<string, TenantLanes>();
  /** Tenants with waiting requests, in the order in which they are served. */
  const turns = new Set<string>();
  let serving = 0;
  let waiting = 0;
  let lastStart = -Infinity;
  let isPumping = false;
  let isLooking = false;
  let isClosed = false;

  function lanesOf({ tenant: name, user }: Lane): { tenant: TenantLanes; lane: UserLane } {
    const tenant = tenants.get(name) ?? { serving: 0, waiting: 0, users: new Map(), turns: new Set() };
    const lane = tenant.users.get(user) ?? { serving: 0, waiting: [] };
    tenants.set(name, tenant);
    tenant.users.set(user, lane);
    return { tenant, lane };
  }

  function forgetIfEmpty({ tenant: name, user }: Lane): void {
    const { tenant, lane } = lanesOf({ tenant: name, user });
    if (lane.waiting.length === 0) tenant.turns.delete(user);
    if (lane.waiting.length === 0 && lane.serving === 0) tenant.users.delete(user);
    if (tenant.waiting === 0) turns.delete(name);
    if (tenant.users.size === 0) tenants.delete(name);
  }

  const atOnce = (): number =>
    waiting > 0 && tools.isSaturated() ? Math.min(AT_ONCE_WHEN_SATURATED, limits.atOnce) : limits.atOnce;

  function start(entrant: Entrant): void {
    const { tenant, lane } = lanesOf(entrant.lane);
    serving += 1;
    tenant.serving += 1;
    lane.serving += 1;
    entrant.start();
  }

  /** True while a tenant that has nothing waiting is served, in a process that is or was just saturated. */
  const servesFew = (): boolean =>
    share.isTight() && [...tenants].some(([name, one]) => name !== NO_TENANT && one.waiting === 0 && one.serving > 0);

  function drop(entrant: Waiting): void {
    const { tenant, lane } = lanesOf(entrant.lane);
    const at = lane.waiting.indexOf(entrant);
    if (at !== -1) {
      lane.waiting.splice(at, 1);
      tenant.waiting -= 1;
      waiting -= 1;
    }
    forgetIfEmpty(entrant.lane);
  }

  /**
   * Refuses the newest waiting request of the tenant, or else of the user, that has most of them. The freed place goes
   * to the client that asks for less.
   */
  function makeRoom({ tenant, lane }: { tenant: TenantLanes; lane: UserLane }): boolean {
    const largest = mostOf(tenants.values(), tenant, (other) => other.waiting);
    const newestFirst = [...largest.users.values()].toReversed();
    const longest = mostOf<UserLane>(newestFirst, largest === tenant ? lane : undefined, (each) => each.waiting.length);
    const last = longest === lane ? undefined : longest?.waiting.at(-1);
    if (!last) return false;
    drop(last);
    last.refuse(largest === tenant ? 'user' : 'tenant');
    return true;
  }

  /** Starts one request per turn of the event loop, so that urgent work runs between two of them. */
  function pump(delayMs = 0): void {
    if (isPumping || isClosed || waiting === 0 || serving >= atOnce()) return;
    isPumping = true;
    tools.later(() => {
      isPumping = false;
      const isUrgent = (tools.isBusy() || servesFew()) && tools.now() - lastStart < PATIENCE_MS;
      if (isUrgent) return pump(1);
      // If no waiting request may be served now, the next arrival or departure calls pump again.
      if (serving < atOnce() && startNext()) pump();
    }, delayMs);
  }

  function startNext(): boolean {
    for (const name of turns) {
      const tenant = tenants.get(name);
      if (!tenant || tenant.serving >= share.of(name)) continue;
      const next = nextOf(tenant);
      if (!next) continue;
      turns.delete(name); // the tenant moves to the end of the order
      if (tenant.waiting > 0) turns.add(name);
      lastStart = tools.now();
      start(next);
      return true;
    }
    return false;
  }

  function nextOf(tenant: TenantLanes): Waiting | undefined {
    for (const user of tenant.turns) {
      const lane = tenant.users.get(user);
      if (!lane || lane.serving >= perUser.atOnce) continue;
      const next = lane.waiting.shift();
      if (!next) continue;
      waiting -= 1;
      tenant.waiting -= 1;
      tenant.turns.delete(user); // the user moves to the end of the order
      if (lane.waiting.length > 0) tenant.turns.add(user);
      return next;
    }
    return undefined;
  }

  function lookForLate(): void {
    if (isLooking || isClosed || waiting === 0) return;
    isLooking = true;
    tools.later(() => {
      isLooking = false;
      const limit = tools.now() - LONGEST_WAIT_MS;
      const lanes = [...tenants.values()].flatMap(({ users }) => [...users.values()]);
      for (const late of lanes.flatMap((lane) => lane.waiting.filter(({ since }) => since < limit))) {
        drop(late);
        late.refuse('process');
      }
      pump();
      lookForLate();
    }, LOOK_FOR_LATE_MS);
  }

  function mayStart({ tenant: name }: Lane, { tenant, lane }: ReturnType<typeof lanesOf>): boolean {
    if (serving >= limits.atOnce || lane.serving >= perUser.atOnce || tenant.serving >= share.of(name)) return false;
    return waiting === 0 || (tenant.waiting === 0 && tenant.serving < FEW);
  }

  return {
    enter(entrant) {
      const lanes = lanesOf(entrant.lane);
      const { tenant, lane } = lanes;
      const waitingEntrant: Waiting = { ...entrant, since: tools.now() };
      let isServed = false;
      const place = placeOf(() => {
        if (!isServed) return drop(waitingEntrant);
        serving -= 1;
        tenant.serving -= 1;
        lane.serving -= 1;
        forgetIfEmpty(entrant.lane);
        pump();
      });
      waitingEntrant.start = () => {
        isServed = true;
        entrant.start();
      };
      share.seen(entrant.lane.tenant);
      if (mayStart(entrant.lane, lanes)) {
        if (waiting === 0) lastStart = tools.now();
        start(waitingEntrant);
        return place;
      }
      const hasMost = lane.waiting.length >= perUser.waiting;
      if (hasMost || (waiting >= limits.waiting && !makeRoom(lanes))) {
        forgetIfEmpty(entrant.lane);
        entrant.refuse(hasMost ? 'user' : reasonOfFull(tenant));
        return place;
      }
      lane.waiting.push(waitingEntrant);
      tenant.waiting += 1;
      waiting += 1;
      turns.add(entrant.lane.tenant);
      tenant.turns.add(entrant.lane.user);
      pump();
      lookForLate();
      return place;
    },
    usage: () => ({ serving, waiting }),
    close() {
      isClosed = true;
    },
  };

  /** Whether the queue is full because of this tenant. */
  function reasonOfFull(tenant: TenantLanes): Refusal {
    return turns.size > 1 && tenant.waiting > limits.waiting / turns.size ? 'tenant' : 'process';
  }
}

const threeQuarters = (count: number): number => Math.max(1, Math.floor((count * 3) / 4));

/** Returns the one with the most, if it has more than `own` would have with one more. */
function mostOf<One>(all: Iterable<One>, own: One, count: (one: One) => number): One;
function mostOf<One>(all: Iterable<One>, own: One | undefined, count: (one: One) => number): One | undefined;
function mostOf<One>(all: Iterable<One>, own: One | undefined, count: (one: One) => number): One | undefined {
  let most = own;
  for (const other of all) if (!most || count(other) > count(most) + Number(most === own)) most = other;
  return most;
}

function placeOf(leave: () => void): Place {
  let hasLeft = false;
  return {
    leave() {
      if (hasLeft) return;
      hasLeft = true;
      leave();
    },
  };
}
