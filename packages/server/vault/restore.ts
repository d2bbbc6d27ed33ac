/**
 * Restores masked text that a client has read, possibly edited, and sends back. Every `***` in it stands for the value
 * that is stored at the same place.
 *
 *   object    the stored value under the same key; if there is none, the key is dropped
 *   array     elements have no names, so an element with a `***` gets the stored element it most likely came from:
 *             the one that looks the same when masked (at the same index if several do), else the one at its index,
 *             else the first that no other element claims. Deleting or moving elements thus keeps their secrets apart.
 */
import { readJson, valueOf, writeJson } from './json-text.ts';
import type { JsonArray, JsonNode } from './json-text.ts';
import { isMask, maskJson } from './mask.ts';

/** True for keys under which `***` means "unchanged". Elsewhere it is an ordinary text. */
export type Maskable = (key: string) => boolean;

/** True if `node` contains a mask and cannot be stored unchanged. */
export function holdsMask(node: JsonNode, maskable: Maskable): boolean {
  switch (node.kind) {
    case 'scalar':
      return false;
    case 'array':
      return node.items.some((item) => holdsMask(item, maskable));
    case 'object':
      return node.entries.some(([key, value]) => (maskable(key) && isMask(value)) || holdsMask(value, maskable));
  }
}

/** Restores a text. If it differs from the stored text only in masks, the stored text is returned with its spaces. */
export function restoreText(submitted: JsonNode, stored: string | undefined, maskable: Maskable): string {
  const node = stored === undefined ? 'not-json' : readJson(stored);
  const before = typeof node === 'string' ? undefined : node;
  const restored = writeJson(restoreJson(submitted, before, maskable));
  return stored !== undefined && before && writeJson(before) === restored ? stored : restored;
}

export function restoreJson(submitted: JsonNode, stored: JsonNode | undefined, maskable: Maskable): JsonNode {
  switch (submitted.kind) {
    case 'scalar':
      return submitted;
    case 'array': {
      const origins = originsOf(submitted, stored?.kind === 'array' ? stored.items : [], maskable);
      const items = submitted.items.map((item, index) => restoreJson(item, origins[index], maskable));
      return { kind: 'array', items };
    }
    case 'object': {
      const known = new Map(stored?.kind === 'object' ? stored.entries : []); // for equal keys, the last one counts
      const entries = submitted.entries.flatMap(([key, value]) => {
        const before = known.get(key);
        if (!maskable(key) || !isMask(value)) return [[key, restoreJson(value, before, maskable)] as const];
        return before === undefined ? [] : [[key, before] as const];
      });
      return { kind: 'object', entries };
    }
  }
}

/** Returns for each submitted element the stored element that its masks refer to. */
function originsOf(submitted: JsonArray, stored: readonly JsonNode[], maskable: Maskable): (JsonNode | undefined)[] {
  const shapeOf = createShapes();
  const shown = stored.map((item) => shapeOf(maskJson(item)));
  const open = submitted.items.flatMap((item, index) => (holdsMask(item, maskable) ? [index] : []));
  const shapes = submitted.items.map(shapeOf);
  const alike = Map.groupBy(stored.keys(), (index) => shown[index]);
  const free = new Set(stored.keys());
  const origins: (JsonNode | undefined)[] = [];

  const nextAlike = (index: number): number | undefined => {
    const queue = alike.get(shapes[index]) ?? [];
    const at = queue.findIndex((candidate) => free.has(candidate));
    queue.splice(0, at === -1 ? queue.length : at); // the earlier candidates are taken
    return queue[0];
  };
  // Each rule sees all elements before the next, weaker rule. Otherwise a guess could take the origin of a certain
  // match.
  const rules: ((index: number) => number | undefined)[] = [
    (index) => (shown[index] === shapes[index] ? index : undefined),
    nextAlike,
    (index) => index,
    () => free.values().next().value,
  ];
  for (const rule of rules) {
    for (const index of open) {
      const origin = origins[index] === undefined ? rule(index) : undefined;
      if (origin === undefined || !free.delete(origin)) continue;
      origins[index] = stored[origin];
    }
  }
  return origins;
}

/**
 * Numbers trees so that trees with equal meaning get the same number. Spaces, escapes and the order of keys do not
 * count.
 */
function createShapes(): (node: JsonNode) => number {
  const numbers = new Map<string, number>();
  const shapeOf = (node: JsonNode): number => {
    const description = describe(node);
    const known = numbers.get(description) ?? numbers.size;
    numbers.set(description, known);
    return known;
  };
  const describe = (node: JsonNode): string => {
    switch (node.kind) {
      case 'scalar':
        return /^"[^\\]*$/.test(node.text) ? node.text : JSON.stringify(valueOf(node));
      case 'array':
        return `[${node.items.map(shapeOf).join()}]`;
      case 'object':
        return `{${[...new Map(node.entries)]
          .map(([key, value]) => `${JSON.stringify(key)}:${shapeOf(value)}`)
          .sort()
          .join()}}`;
    }
  };
  return shapeOf;
}
