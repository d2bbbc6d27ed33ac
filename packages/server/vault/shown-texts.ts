/**
 * What was shown of sealed values, kept in memory: to open a value and to mask what is in it takes 15 µs, and a list of a
 * hundred does it a hundred times for values that have not changed since the list before. Only what every reader may see is
 * kept, never what was under the mask. A sealed text is made with a new nonce at each write, so it changes with its value; that
 * it stands in the row it was made for is checked here as the seal does: elsewhere it does not open.
 */
export type ShownTexts = {
  /** What `show` said of this sealed text when it stood in the same row. */
  of(place: ShownPlace, show: () => string): string;
};

export type ShownPlace = { sealed: string; tenantId: string; row: string };

type Entry = { tenantId: string; row: string; shown: string };

/** In characters, of keys and texts together: some 30,000 extras. */
const MAX_SIZE = 8_000_000;
/** A value as large as a whole page of others is worth opening each time. */
const MAX_TEXT = 16_000;

export function createShownTexts(maxSize = MAX_SIZE): ShownTexts {
  let recent = new Map<string, Entry>();
  let before = new Map<string, Entry>();
  let size = 0;

  const keep = (sealed: string, entry: Entry): void => {
    const length = sealed.length + entry.shown.length;
    if (length > MAX_TEXT) return;
    if (size + length > maxSize / 2) [before, recent, size] = [recent, new Map(), 0]; // what nobody asked for since is gone
    recent.set(sealed, entry);
    size += length;
  };

  return {
    of({ sealed, tenantId, row }, show) {
      const isHere = (entry: Entry): boolean => entry.row === row && entry.tenantId === tenantId;
      const known = recent.get(sealed);
      if (known && isHere(known)) return known.shown;
      const older = before.get(sealed);
      const entry = older && isHere(older) ? older : { tenantId, row, shown: show() };
      keep(sealed, entry);
      return entry.shown;
    },
  };
}
