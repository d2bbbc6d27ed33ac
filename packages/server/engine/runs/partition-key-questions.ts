/**
 * Workers answer questions about authors' partition mappers, as about authors' timetables (timetable-questions.ts):
 *
 *   an event has a key without an answer ──▶ it waits; dags.timetable_ask_at ──▶ a question about all such keys
 *     ──▶ a worker answers ──▶ dags.timetable.answers ──▶ the event waits for the runs of its keys
 *
 * An answer is valid as long as the version is, and is not requested again while it is remembered.
 */
import { nowIso } from '@svc/spec/clock.ts';
import { MapperAnswer, mapKeys } from '@svc/spec/timetables/partition-mappers.ts';
import type { PartitionedAssetTimetable } from '@svc/spec/timetables/schema.ts';
import { Type } from 'typebox';
import type { Static } from 'typebox';
import { compileWhenUsed } from '../../compile-when-used.ts';
import type { SharedDb } from '../../db/database.ts';
import { reconsiderUnmapped, unmappedEvents } from '../sql/asset-partitions.ts';
import type { DagKey } from '../sql/dag-rows.ts';
import { askSoon, setTimetable } from '../sql/timetable-questions.ts';
import type { KeysQuestion } from '../sql/timetable-questions.ts';
import type { PresentAsset } from './asset-condition.ts';
import { mapperAt, placeOf } from './partition-waits.ts';

const KEYS_AT_ONCE = 100;
const EVENTS_LOOKED_AT = 1_000;
/** About 50 kB in addition to the timetable. */
const REMEMBERED = 500;

export type KeysOfEvent =
  | { kind: 'keys'; keys: readonly string[] }
  | { kind: 'refused'; problem: string }
  | { kind: 'ask' };

/** Returns the keys of the runs to which an event of the asset with that key belongs. */
export function keysOf(timetable: PartitionedAssetTimetable, asset: PresentAsset, key: string): KeysOfEvent {
  const place = placeOf(timetable, asset);
  const mapper = mapperAt(timetable, place);
  if (mapper.mapper === 'custom') {
    const answer = timetable.answers?.find((known) => known.mapper === place && known.key === key);
    if (!answer) return { kind: 'ask' };
    return 'keys' in answer ? { kind: 'keys', keys: answer.keys } : { kind: 'refused', problem: answer.problem };
  }
  const mapped = mapKeys(mapper, key);
  return mapped.ok ? { kind: 'keys', keys: mapped.keys } : { kind: 'refused', problem: mapped.problem };
}

/**
 * Schedules a question, unless one is open: its answer leads to the next one. Returns the moment at which it is due.
 */
export async function wantAnswers(trx: SharedDb, key: DagKey): Promise<string> {
  const now = nowIso();
  await askSoon(trx, key, now);
  return now;
}

/** Returns undefined when nothing waits for an answer. */
export async function keysToAsk(
  trx: SharedDb,
  key: DagKey,
  timetable: PartitionedAssetTimetable,
): Promise<KeysQuestion | undefined> {
  const wanted = new Map<string, KeysQuestion['keys'][number]>();
  for (const event of await unmappedEvents(trx, key, EVENTS_LOOKED_AT)) {
    if (keysOf(timetable, event, event.key).kind !== 'ask') continue;
    const mapper = placeOf(timetable, event);
    wanted.set(JSON.stringify([mapper, event.key]), { mapper, key: event.key });
    if (wanted.size === KEYS_AT_ONCE) break;
  }
  return wanted.size === 0 ? undefined : { kind: 'keys', keys: [...wanted.values()] };
}

const KeysAnswer = Type.Object({ keys: Type.Array(MapperAnswer, { maxItems: KEYS_AT_ONCE }) });
type KeysAnswer = Static<typeof KeysAnswer>;
const Answer = compileWhenUsed(KeysAnswer);

export const isKeysAnswer = (answer: unknown): answer is KeysAnswer => Answer.Check(answer);

/** Stores the answers, and makes the events that waited for them due. */
export async function useKeys(
  trx: SharedDb,
  key: DagKey,
  input: { timetable: PartitionedAssetTimetable; question: KeysQuestion; answer: KeysAnswer },
): Promise<{ dueAt: string }> {
  const { timetable, question, answer } = input;
  const answered = question.keys.map(
    (asked): MapperAnswer =>
      answer.keys.find((given) => given.mapper === asked.mapper && given.key === asked.key) ?? {
        ...asked,
        problem: `the worker that was asked said nothing about the partition key "${asked.key}"`,
      },
  );
  const answers = [...(timetable.answers ?? []), ...answered].slice(-REMEMBERED);
  await setTimetable(trx, key, { timetable: { ...timetable, answers }, askAt: null });
  await reconsiderUnmapped(trx, key);
  return { dueAt: nowIso() };
}
