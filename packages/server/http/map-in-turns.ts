import { setImmediate as nextTurn } from 'node:timers/promises';

const TURN_MS = 10;

/**
 * Works like `map`, for items that may be large, such as the conf of runs. Other work runs between slices of the list.
 */
export async function mapInTurns<Item, Made>(
  items: readonly Item[],
  make: (item: Item) => Made | Promise<Made>,
): Promise<Made[]> {
  const made: Made[] = [];
  let began = performance.now();
  for (const item of items) {
    made.push(await make(item));
    if (performance.now() - began < TURN_MS) continue;
    await nextTurn();
    began = performance.now();
  }
  return made;
}
