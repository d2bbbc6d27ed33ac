/** Does the work of deserialize.ts for large values, in turns with other work. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { PIECE } from '@svc/spec/json-in-turns.ts';
import { itemsEnd, skipSpace, stringEnd, valueEnd } from '@svc/spec/json-spans.ts';
import { nestingOf } from '@svc/spec/json-shape.ts';
import { MAX_NESTING } from '../../vault/json-text.ts';
import { SEQUENCES, deserialize } from './deserialize.ts';

export async function deserializeInTurns(json: string, piece = PIECE): Promise<string> {
  if (json.length <= piece || !json.includes('__classname__')) return deserialize(json);
  return nestingOf(json) > MAX_NESTING ? json : plain(json, piece);
}

async function plain(text: string, piece: number): Promise<string> {
  if (text.length <= piece) return deserialize(text);
  await nextTurn();
  const start = skipSpace(text, 0);
  if (text[start] === '[') return plainList(text, start + 1, piece);
  return text[start] === '{' ? plainObject(text, start + 1, piece) : text;
}

async function plainList(text: string, from: number, piece: number): Promise<string> {
  const parts: string[] = [];
  for (let at = skipSpace(text, from); text[at] !== ']' && at < text.length;) {
    const end = itemsEnd(text, at, piece);
    if (end === undefined) {
      const large = valueEnd(text, at);
      parts.push(await plain(text.slice(at, large), piece));
      at = skipSpace(text, large);
    } else {
      parts.push(deserialize(`[${text.slice(at, end)}]`).slice(1, -1)); // as many items as fit into one piece
      at = end;
      await nextTurn();
    }
    if (text[at] === ',') at = skipSpace(text, at + 1);
  }
  return `[${parts.join()}]`;
}

type Entry = { key: string; valueStart: number; end: number };

async function plainObject(text: string, from: number, piece: number): Promise<string> {
  const entries = await entriesOf(text, from, piece);
  const last = (name: string): string | undefined => {
    const entry = entries.findLast(({ key }) => key === name);
    return entry && text.slice(entry.valueStart, entry.end);
  };
  const name = last('__classname__');
  if (name?.startsWith('"')) return standsFor(name, { data: last('__data__'), version: last('__version__') }, piece);
  const parts: string[] = [];
  for (const { key, valueStart, end } of entries) {
    parts.push(`${JSON.stringify(key)}:${await plain(text.slice(valueStart, end), piece)}`);
    if (parts.length % ENTRIES_IN_ONE_TURN === 0) await nextTurn();
  }
  return `{${parts.join()}}`;
}

const ENTRIES_IN_ONE_TURN = 2_000;

async function entriesOf(text: string, from: number, piece: number): Promise<Entry[]> {
  const entries: Entry[] = [];
  let turnFrom = from;
  for (let at = skipSpace(text, from); text[at] === '"';) {
    const keyEnd = stringEnd(text, at);
    const valueStart = skipSpace(text, skipSpace(text, keyEnd) + 1);
    const end = valueEnd(text, valueStart);
    entries.push({ key: JSON.parse(text.slice(at, keyEnd)) as string, valueStart, end });
    at = skipSpace(text, end);
    if (text[at] === ',') at = skipSpace(text, at + 1);
    if (at - turnFrom < piece) continue;
    turnFrom = at;
    await nextTurn();
  }
  return entries;
}

async function standsFor(
  name: string,
  { data, version }: { data: string | undefined; version: string | undefined },
  piece: number,
): Promise<string> {
  const members = [`"__classname__":${name}`];
  if (version !== undefined) members.push(`"__version__":${version}`);
  if (data === undefined || data.length <= piece) {
    if (data !== undefined) members.push(`"__data__":${data}`);
    return deserialize(`{${members.join()}}`);
  }
  const className = JSON.parse(name) as string;
  const shown = await plain(data, piece);
  if (SEQUENCES.has(className) && data.startsWith('[')) return shown;
  if (!data.startsWith('[') && !data.startsWith('{'))
    return deserialize(`{${[...members, `"__data__":${data}`].join()}}`);
  return JSON.stringify(`${className}@version=${version ?? '?'}(${shown})`);
}
