import { distance } from 'fastest-levenshtein';
import { configKeys, flagOf, variableOf } from './keys.ts';

/** Sections count too: somebody may have misspelt `executor:` itself. */
const sections = [...new Set(configKeys.flatMap(sectionsOf))];

/** The key or section a name in the file most likely stands for. */
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
 * The forgotten section is a mistake of its own: `http_addr` is six letters away from `server.http_addr` and closer to
 * many unrelated names. So a candidate is also compared without its leading sections, each of them costing one letter.
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

/** Bounded, because the distance of two texts costs the product of their lengths. */
function plain(name: string): string {
  return name.slice(0, 200).toLowerCase().replaceAll('-', '_');
}
