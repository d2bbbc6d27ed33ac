/**
 * Reads bodies whose JSON is stored rather than used: numbers keep the digits they were sent with. An id such as
 * 1234567890123456789 is more than a JavaScript number can hold, and would silently be stored as another one.
 *
 * A number that would not survive becomes an object that `JSON.stringify` writes out as it was (`JSON.rawJSON`).
 */
import type { FastifyError, FastifyInstance } from 'fastify';
import { MAX_NESTING, nestingOf } from '../vault/json-text.ts';
import { ApiError } from './errors.ts';
import { readLarge } from './json-body.ts';
import { LARGE_BODY_CHARACTERS } from './large-body.ts';

declare global {
  /** Part of the language since 2025 and of Node 24; the compiler's library does not list it yet. */
  interface JSON {
    parse(text: string, reviver: (key: string, value: unknown, context: { source?: string }) => unknown): unknown;
    rawJSON(text: string): object;
  }
}

/** What a request puts around a stored value: the body, and in a bulk request the actions and their entities. */
const ENVELOPE = 5;

/** For a scope of its own: replaces the parser of the instance it is given. */
export function installExactJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error'); // refuses keys that would poison a prototype
  app.removeContentTypeParser('application/json');
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, sent: string, done) => {
    const text = sent.replace(/^\uFEFF/, ''); // a byte-order mark is no part of the document
    if (text === '') return done(null, undefined);
    if (text.length > LARGE_BODY_CHARACTERS) return void readLargeExactly(text).then((body) => done(null, body), done);
    parse(request, text, (error: Error | null) => {
      if (error)
        return done(new ApiError('invalid_json', 'the body must be one JSON document') as Error as FastifyError);
      try {
        done(null, parseExactly(text));
      } catch (refusal) {
        done(refusal as FastifyError);
      }
    });
  });
}

async function readLargeExactly(text: string): Promise<unknown> {
  if (nestingOf(text) > MAX_NESTING + ENVELOPE) throw tooDeep();
  return readLarge(text, withDigits);
}

const tooDeep = (): ApiError => new ApiError('invalid_request', `the body nests deeper than ${MAX_NESTING} levels`);

export function parseExactly(text: string): unknown {
  if (nestingOf(text) > MAX_NESTING + ENVELOPE) throw tooDeep();
  return withDigits(text);
}

const withDigits = (text: string): unknown =>
  JSON.parse(text, (_key, value, { source }) =>
    typeof value === 'number' && source !== undefined && String(value) !== source ? JSON.rawJSON(source) : value,
  );
