/**
 * How JSON bodies are read. Beside the framework's own refusals (no valid JSON, keys that would poison a prototype) a body
 * must be something that can be kept: not nested so deeply that writing it out overflows the stack, and only of text that
 * Postgres can store, which has no place for U+0000 or for half of a surrogate pair.
 */
import type { FastifyInstance } from 'fastify';
import { JsonNestingError } from '@svc/spec/json-in-turns.ts';
import { ApiError } from './errors.ts';
import { LARGE_BODY_CHARACTERS, TooManyValuesError, faultOfLargeBody, parseLargeBody } from './large-body.ts';

const MAX_DEPTH = 200;

export function installJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  // Read by default, and the one type that a page of another site may send without asking first.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<string>('application/json', { parseAs: 'string' }, (request, text, done) => {
    // Clients send the header by habit with calls that have no body; where one is required, its schema says so.
    if (text === '') return done(null, undefined);
    if (text.length > LARGE_BODY_CHARACTERS) return void readLarge(text).then((body) => done(null, body), done);
    void parse(request, text, (error: Error | null, body?: unknown) => {
      if (error) return done(new ApiError('invalid_json', 'the body must be one JSON document'));
      const fault = faultOf(body);
      done(fault === undefined ? null : new ApiError('invalid_request', fault), body);
    });
  });
}

/** The same in turns with others; the rules are one. */
export async function readLarge(text: string, parse?: (piece: string) => unknown): Promise<unknown> {
  const notJson = (error: unknown): never => {
    if (error instanceof TooManyValuesError) throw new ApiError('body_too_large', error.message);
    if (error instanceof JsonNestingError) throw new ApiError('invalid_request', TOO_DEEP);
    throw new ApiError('invalid_json', 'the body must be one JSON document');
  };
  const body = await parseLargeBody(text, parse).catch(notJson);
  const fault = await faultOfLargeBody(body, {
    maxDepth: MAX_DEPTH,
    isStorable,
    tooDeep: TOO_DEEP,
    unstorable: UNSTORABLE,
  }).catch(notJson);
  if (fault !== undefined) throw new ApiError('invalid_request', fault);
  return body;
}

/** With its own stack, because the call stack is what a hostile body aims at. */
function faultOf(body: unknown): string | undefined {
  const pending = [{ value: body, depth: 1 }];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next;
    if (typeof value === 'string' && !isStorable(value)) return UNSTORABLE;
    if (typeof value !== 'object' || value === null) continue;
    if (depth > MAX_DEPTH) return TOO_DEEP;
    for (const [key, inner] of Object.entries(value)) {
      if (!isStorable(key)) return UNSTORABLE;
      pending.push({ value: inner, depth: depth + 1 });
    }
  }
  return undefined;
}

const TOO_DEEP = `the body must not be nested deeper than ${MAX_DEPTH} levels`;
const UNSTORABLE = 'text must not contain U+0000 or half of a surrogate pair';

const isStorable = (text: string): boolean => text.isWellFormed() && !text.includes('\u0000');
