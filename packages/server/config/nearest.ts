import { distance } from 'fastest-levenshtein';
import { configKeys, flagOf, variableOf } from './keys.ts';

/** Section names count too, because `executor:` itself may be misspelt. */
const sections = [...new Set(configKeys.flatMap(sectionsOf))];

/** Returns the key or section that a name in the file most likely means. */
export function nearestKey(name: string): string {
  return nearestOf({ name, candidates: [...configKeys, ...sections], write: (path) => path });
}

export function nearestVariable(name: string): string {
  return variableOf(nearestOf({ name, candidates: configKeys, write: variableOf }));
}

export function nearestFlag(name: string): string {
  return flagOf(nearestOf({ name, candidates: configKeys, write: (path) => path }));
}

function sectionsOf(key: string): string[] {
  const parts = key.split('.');
  return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('.'));
}

/**
 * A missing section is a common mistake. `http_addr` differs from `server.http_addr` in seven characters and is closer
 * to many unrelated names. Each candidate is therefore also compared without its leading sections, at a cost of one
 * character per section.
 */
function nearestOf(options: { name: string; candidates: readonly string[]; write: (path: string) => string }): string {
  const { candidates, write } = options;
  const name = plain(options.name);
  let nearest = '';
  let least = Number.POSITIVE_INFINITY;
  for (const candidate of candidates) {
    const parts = candidate.split('.');
    for (let dropped = 0; dropped < parts.length; dropped += 1) {
      const cost = distance(name, plain(write(parts.slice(dropped).join('.')))) + dropped;
      if (cost < least) {
        least = cost;
        nearest = candidate;
      }
    }
  }
  return nearest;
}

/** Limits the length, because an edit distance costs the product of both lengths. */
function plain(name: string): string {
  return name.slice(0, 200).toLowerCase().replaceAll('-', '_');
}
