/**
 * How JSON bodies are read. Beside the framework's own refusals (no valid JSON, keys that would poison a prototype) a body
 * must be UTF-8 and something that can be kept as it is: not nested so deeply that writing it out overflows the stack, without
 * a key that an object has twice, and of text and numbers that stay the same (@svc/spec/storable.ts).
 */
import { isUtf8 } from 'node:buffer';
import { callbackify } from 'node:util';
import type { FastifyInstance } from 'fastify';
import { mayHoldRawNumbers, parseExact } from '@svc/spec/exact-json.ts';
import { JsonNestingError } from '@svc/spec/json-in-turns.ts';
import { repeatedKey, repeatedKeyInTurns } from '@svc/spec/json-shape.ts';
import { MAX_DEPTH, THE_BODY, storeProblem } from '@svc/spec/storable.ts';
import { ApiError } from '../errors.ts';
import {
  LARGE_BODY_CHARACTERS,
  PoisonedKeyError,
  TooManyValuesError,
  faultOfLargeBody,
  parseLargeBody,
} from './large-body.ts';
import { settleNumbers } from './number-places.ts';

const NAMED = { name: THE_BODY };

export function installJsonParser(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  // Read by default, and the one type that a page of another site may send without asking first.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, sent, done) => {
    // Clients send the header by habit with calls that have no body; where one is required, its schema says so.
    if (sent.length === 0) return done(null, undefined);
    if (!isUtf8(sent)) return done(new ApiError('invalid_json', 'the body is not valid UTF-8'));
    const text = sent.toString('utf8').replace(/^\uFEFF/, ''); // a byte-order mark is no part of the document
    const schema = request.routeOptions.schema?.body;
    if (text.length > LARGE_BODY_CHARACTERS) return callbackify(() => readLarge(text, schema))(done);
    void parse(request, text, (error: Error | null, body?: unknown) => {
      if (error) return done(refusal(isJson(text) ? new PoisonedKeyError() : error));
      const fault = storeProblem(body, NAMED); // before anything that recurses
      if (fault !== undefined) return done(new ApiError('invalid_request', fault));
      const repeated = repeatedKey(text);
      if (repeated !== undefined) return done(new ApiError('invalid_request', repeatedFault(repeated)));
      if (!mayHoldRawNumbers(text)) return done(null, body);
      const exact = parseExact(text);
      const inexact = storeProblem(exact, NAMED);
      if (inexact !== undefined) return done(new ApiError('invalid_request', inexact));
      done(null, schema === undefined ? body : settleNumbers(exact, schema)); // without one, nothing of it is kept
    });
  });
}

/** The same in turns with others; the rules are one. */
async function readLarge(text: string, schema: unknown): Promise<unknown> {
  const { body, hasRawNumbers } = await parseLargeBody(text).catch(refuse);
  const fault = await faultOfLargeBody(body, NAMED).catch(refuse);
  if (fault !== undefined) throw new ApiError('invalid_request', fault);
  const repeated = await repeatedKeyInTurns(text);
  if (repeated !== undefined) throw new ApiError('invalid_request', repeatedFault(repeated));
  return hasRawNumbers && schema !== undefined ? settleNumbers(body, schema) : body;
}

/** One of the two would be kept, and nobody could tell which was meant. */
const repeatedFault = (key: string): string => `${THE_BODY} has the key ${JSON.stringify(key)} twice: send it once`;

function refuse(error: unknown): never {
  throw refusal(error);
}

function refusal(error: unknown): ApiError {
  if (error instanceof TooManyValuesError) return new ApiError('body_too_large', error.message);
  if (error instanceof PoisonedKeyError) return new ApiError('invalid_request', error.message);
  if (error instanceof JsonNestingError)
    return new ApiError('invalid_request', `${THE_BODY} must not be nested deeper than ${MAX_DEPTH} levels`);
  return new ApiError('invalid_json', 'the body must be one JSON document');
}

/** What the framework refuses all the same has a key that would poison a prototype. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
