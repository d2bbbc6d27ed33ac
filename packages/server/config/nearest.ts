import { closest } from 'fastest-levenshtein';
import { configKeys, flagOf, variableOf } from './keys.ts';

/** Sections count too: somebody may have misspelt `executor:` itself. */
const sections = [
  ...new Set(
    configKeys.flatMap((key) => {
      const parts = key.split('.');
      return parts.slice(1).map((_part, index) => parts.slice(0, index + 1).join('.'));
    }),
  ),
];

/** The key or section a name in the file most likely stands for. */
export function nearestKey(name: string): string {
  return nearestOf({ name: name.replaceAll('-', '_'), candidates: [...configKeys, ...sections], separator: '.' });
}

export function nearestVariable(name: string): string {
  return nearestOf({ name, candidates: configKeys.map(variableOf), separator: '_' });
}

export function nearestFlag(key: string): string {
  return flagOf(nearestOf({ name: key, candidates: configKeys, separator: '.' }));
}

/**
 * A name that is right but for its section (`http_addr`, `SVC_HTTP_ADDR`) is further from the truth in letters than
 * from many unrelated names, so a candidate with the same ending wins over the letter count.
 */
function nearestOf(options: { name: string; candidates: readonly string[]; separator: string }): string {
  const { name, candidates, separator } = options;
  const lower = name.toLowerCase();
  const ending = separator === '.' ? (lower.split('.').at(-1) ?? lower) : lower.replace(/^svc_/, '');
  const sameEnding = candidates.filter((candidate) => candidate.toLowerCase().endsWith(`${separator}${ending}`));
  const pool = sameEnding.length > 0 && ending !== '' ? sameEnding : candidates;
  return closest(pool === candidates && separator === '_' ? name.toUpperCase() : name, [...pool]);
}
