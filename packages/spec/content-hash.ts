/**
 * The hash of a version's content. A control plane makes a new version when the hash differs from that of the current
 * one. The process that compiles a bundle computes the same hash, and sends only what the control plane lacks.
 */
import { createHash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { canonicalJsonInTurns } from './canonical-in-turns.ts';
import type { CompiledSpec } from './schema.ts';
import { customIn, withTable } from './timetables/custom-runs.ts';

export type SpecContent = {
  /** The canonical text of the spec. */
  text: string;
  hash: string;
  /** The answers of a custom timetable depend on the time of the compilation, so the hash leaves them out. */
  isTimetableOwn: boolean;
};

export async function contentOf(spec: CompiledSpec, image = ''): Promise<SpecContent> {
  const text = await canonicalJsonInTurns(spec);
  const isTimetableOwn = customIn(spec.schedule) !== null;
  const hashed = isTimetableOwn
    ? await canonicalJsonInTurns({ ...spec, schedule: withTable(spec.schedule, undefined) })
    : text;
  return { text, hash: await hashOf([hashed, '\0', image]), isTimetableOwn };
}

/** Characters that are hashed in one turn of the event loop. */
const HASHED_AT_ONCE = 1024 * 1024;

async function hashOf(texts: readonly string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const text of texts) {
    for (let from = 0; from < text.length;) {
      if (from > 0) await nextTurn();
      const end = from + HASHED_AT_ONCE;
      // Never splits a surrogate pair, because each half would be encoded as another character.
      const to = end < text.length && isHighSurrogate(text.charCodeAt(end - 1)) ? end + 1 : end;
      hash.update(text.slice(from, to));
      from = to;
    }
  }
  return hash.digest('hex');
}

const isHighSurrogate = (unit: number): boolean => unit >= 0xd800 && unit < 0xdc00;
