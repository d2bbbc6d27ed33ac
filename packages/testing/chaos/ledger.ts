/**
 * What the clients of a chaos run know to be true. A write answered 2xx is a fact. One answered 503 may or may not have
 * happened, so until the next fact both values are possible; nothing else is.
 */
export type Value = string | null; // null: there is no such thing

export type Ledger = {
  acknowledge(key: string, value: Value): void;
  doubt(key: string, value: Value): void;
  /** A complaint when this value should not be there, otherwise undefined. */
  check(key: string, value: Value): string | undefined;
  keys(): string[];
  /** How many writes of this key certainly happened, and how many may have. */
  writes(key: string): { certain: number; possible: number };
};

type Entry = { values: Set<Value>; certain: number; possible: number };

export function createLedger(): Ledger {
  const entries = new Map<string, Entry>();
  const entryOf = (key: string): Entry => {
    const entry = entries.get(key) ?? { values: new Set<Value>([null]), certain: 0, possible: 0 };
    entries.set(key, entry);
    return entry;
  };
  return {
    acknowledge(key, value) {
      const entry = entryOf(key);
      entry.values = new Set([value]);
      entry.certain += 1;
      entry.possible += 1;
    },
    doubt(key, value) {
      const entry = entryOf(key);
      entry.values.add(value);
      entry.possible += 1;
    },
    check(key, value) {
      const { values } = entryOf(key);
      if (values.has(value)) return undefined;
      return `${key} is ${JSON.stringify(value)}, but can only be ${[...values].map((each) => JSON.stringify(each)).join(' or ')}`;
    },
    keys: () => [...entries.keys()],
    writes: (key) => {
      const { certain, possible } = entryOf(key);
      return { certain, possible };
    },
  };
}
