/**
 * Decides which requests are served now, which wait, and which are refused. A burst of requests must not take the
 * process from the scheduler and its agents, or from other users.
 *
 *   arrives ──▶ served     at most `atOnce`, at most three quarters for one user; fewer while the process is busy
 *          ├──▶ waits      at most `waiting`, at most a quarter of them for one user; served round robin between users
 *          └──▶ refused    429 when the user has that many waiting, 503 when all users together have too many
 *
 * This module is pure except for the clock that it is given. admission-server.ts handles the requests themselves.
 */

export type Refusal = 'user' | 'process';

/**
 * A request that wants to be served. Admission calls either `start` or `refuse`, once. After `leave` it calls neither.
 */
export type Entrant = { lane: string; start(): void; refuse(reason: Refusal): void };

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
type Lane = { serving: number; waiting: Waiting[] };

/** Urgent work may delay waiting requests for this long. Then one of them is served anyway. */
const PATIENCE_MS = 25;
/** With Postgres on another processor, two requests keep this processor busy. */
const AT_ONCE_WHEN_SATURATED = 2;
/** After this time clients have usually given up on the answer. */
const LONGEST_WAIT_MS = 15_000;
const LOOK_FOR_LATE_MS = 1_000;

export function createAdmission(limits: AdmissionLimits, tools: AdmissionTools): Admission {
  const perUser = {
    atOnce: Math.max(1, Math.floor((limits.atOnce * 3) / 4)),
    waiting: Math.max(1, Math.floor(limits.waiting / 4)),
  };
  const lanes = new Map<string, Lane>();
  /** Names of lanes with waiting requests, in the order in which they are served. */
  const turns = new Set<string>();
  let serving = 0;
  let waiting = 0;
  let lastStart = -Infinity;
  let isPumping = false;
  let isLooking = false;
  let isClosed = false;

  const laneOf = (name: string): Lane => {
    const known = lanes.get(name) ?? { serving: 0, waiting: [] };
    lanes.set(name, known);
    return known;
  };
  const forgetIfEmpty = (name: string, lane: Lane): void => {
    if (lane.waiting.length === 0) turns.delete(name);
    if (lane.waiting.length === 0 && lane.serving === 0) lanes.delete(name);
  };
  const atOnce = (): number =>
    waiting > 0 && tools.isSaturated() ? Math.min(AT_ONCE_WHEN_SATURATED, limits.atOnce) : limits.atOnce;

  function start(entrant: Entrant, lane: Lane): void {
    serving += 1;
    lane.serving += 1;
    lastStart = tools.now();
    entrant.start();
  }

  function drop(lane: Lane, entrant: Waiting): void {
    const at = lane.waiting.indexOf(entrant);
    if (at === -1) return;
    lane.waiting.splice(at, 1);
    waiting -= 1;
    forgetIfEmpty(entrant.lane, lane);
  }

  /**
   * Refuses the newest waiting request of the longest lane if that lane is longer than this one. The freed place goes
   * to the client that asks for less.
   */
  function makeRoom(lane: Lane): boolean {
    let longest = lane;
    for (const name of turns) {
      const other = lanes.get(name);
      if (other && other.waiting.length > longest.waiting.length + 1) longest = other;
    }
    const last = longest === lane ? undefined : longest.waiting.at(-1);
    if (!last) return false;
    drop(longest, last);
    last.refuse('user');
    return true;
  }

  /** Starts one request per turn of the event loop, so that urgent work runs between two of them. */
  function pump(delayMs = 0): void {
    if (isPumping || isClosed || waiting === 0 || serving >= atOnce()) return;
    isPumping = true;
    tools.later(() => {
      isPumping = false;
      const isUrgent = tools.isBusy() && tools.now() - lastStart < PATIENCE_MS;
      if (isUrgent) return pump(1);
      // If no waiting request may be served now, the next arrival or departure calls pump again.
      if (serving < atOnce() && startNext()) pump();
    }, delayMs);
  }

  function startNext(): boolean {
    for (const name of turns) {
      const lane = lanes.get(name);
      if (!lane || lane.serving >= perUser.atOnce) continue;
      const next = lane.waiting.shift();
      if (!next) continue;
      waiting -= 1;
      turns.delete(name); // the lane moves to the end of the order
      if (lane.waiting.length > 0) turns.add(name);
      start(next, lane);
      return true;
    }
    return false;
  }

  function lookForLate(): void {
    if (isLooking || isClosed || waiting === 0) return;
    isLooking = true;
    tools.later(() => {
      isLooking = false;
      const limit = tools.now() - LONGEST_WAIT_MS;
      for (const lane of Array.from(lanes.values())) {
        for (const entrant of lane.waiting.filter(({ since }) => since < limit)) {
          drop(lane, entrant);
          entrant.refuse('process');
        }
      }
      pump();
      lookForLate();
    }, LOOK_FOR_LATE_MS);
  }

  return {
    enter(entrant) {
      const lane = laneOf(entrant.lane);
      const waitingEntrant: Waiting = { ...entrant, since: tools.now() };
      let isServed = false;
      const place = placeOf(() => {
        if (!isServed) return drop(lane, waitingEntrant);
        serving -= 1;
        lane.serving -= 1;
        forgetIfEmpty(entrant.lane, lane);
        pump();
      });
      if (waiting === 0 && serving < limits.atOnce && lane.serving < perUser.atOnce) {
        isServed = true;
        start(entrant, lane);
        return place;
      }
      waitingEntrant.start = () => {
        isServed = true;
        entrant.start();
      };
      const isFull = waiting >= limits.waiting;
      if (lane.waiting.length >= perUser.waiting || (isFull && !makeRoom(lane))) {
        const reason = lane.waiting.length >= perUser.waiting ? 'user' : 'process';
        forgetIfEmpty(entrant.lane, lane);
        entrant.refuse(reason);
        return place;
      }
      lane.waiting.push(waitingEntrant);
      waiting += 1;
      turns.add(entrant.lane);
      pump();
      lookForLate();
      return place;
    },
    usage: () => ({ serving, waiting }),
    close() {
      isClosed = true;
    },
  };
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
