/**
 * Which requests are served now, which wait, and which are turned away, so that no burst of them takes the process from the
 * scheduler and its agents, nor from other users.
 *
 *   arrives ──▶ served     at most `atOnce`, and of these at most three quarters for one user; fewer while the process is busy
 *          ├──▶ waits      at most `waiting`, and of these at most a quarter for one user; served round robin between users
 *          └──▶ refused    429 when the user has that many waiting already, 503 when everybody together has
 *
 * Pure but for the clock it is given: the requests themselves are admission-server.ts.
 */

export type Refusal = 'user' | 'process';

/** A request that wants to be served. One of the two is called, once; none after `leave`. */
export type Entrant = { lane: string; start(): void; refuse(reason: Refusal): void };

/** `leave`: it has been served, or its client is gone. */
export type Place = { leave(): void };

export type AdmissionLimits = { atOnce: number; waiting: number };

export type Admission = {
  enter(entrant: Entrant): Place;
  usage(): { serving: number; waiting: number };
  close(): void;
};

export type AdmissionTools = {
  /** Is something more urgent being done? Then those who wait are kept waiting a moment longer. */
  isBusy(): boolean;
  /** Is the event loop busy most of the time? Then more at once makes everything slower, and nothing faster. */
  isSaturated(): boolean;
  now(): number;
  /** Calls back in a later turn of the event loop. */
  later(run: () => void, ms: number): void;
};

type Waiting = Entrant & { since: number };
type Lane = { serving: number; waiting: Waiting[] };

/** How long what is urgent may keep others waiting, before one of them is served all the same. */
const PATIENCE_MS = 25;
/** With Postgres on another processor, two are enough to keep this one busy. */
const AT_ONCE_WHEN_SATURATED = 2;
/** After this nobody waits for the answer any more. */
const LONGEST_WAIT_MS = 15_000;
const LOOK_FOR_LATE_MS = 1_000;

export function createAdmission(limits: AdmissionLimits, tools: AdmissionTools): Admission {
  const perUser = {
    atOnce: Math.max(1, Math.floor((limits.atOnce * 3) / 4)),
    waiting: Math.max(1, Math.floor(limits.waiting / 4)),
  };
  const lanes = new Map<string, Lane>();
  /** Lanes with somebody waiting, the one whose turn it is first. */
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

  /** Who has waited least in the longest lane, when that is longer than this one: there is room for whoever asks for less. */
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

  /** One in each turn of the event loop: between two of them, whatever is urgent gets its own. */
  function pump(delayMs = 0): void {
    if (isPumping || isClosed || waiting === 0 || serving >= atOnce()) return;
    isPumping = true;
    tools.later(() => {
      isPumping = false;
      const isUrgent = tools.isBusy() && tools.now() - lastStart < PATIENCE_MS;
      if (isUrgent) return pump(1);
      // When nobody who waits may be served, whoever leaves or comes next is looked at again.
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
      turns.delete(name); // and behind the others
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
