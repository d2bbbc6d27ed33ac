/**
 * The parser of JSON bodies. The framework refuses invalid JSON and keys that would poison a prototype. This parser
 * also refuses text that is not UTF-8 and values that cannot be stored unchanged. Their nesting must not overflow the
 * stack when they are serialised, no object may contain a key twice, and text and numbers must stay the same
 * (@svc/spec/storable.ts).
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
  // Fastify reads text/plain by default. It is also the one type that a page of another site may send without a
  // preflight.
  app.removeContentTypeParser('text/plain');
  app.addContentTypeParser<Buffer>('application/json', { parseAs: 'buffer' }, (request, sent, done) => {
    // Clients often send this header with calls that have no body. Where a body is required, the schema of the route
    // says so.
    if (sent.length === 0) return done(null, undefined);
    if (!isUtf8(sent)) return done(new ApiError('invalid_json', 'the body is not valid UTF-8'));
    const text = sent.toString('utf8').replace(/^\uFEFF/, ''); // a byte-order mark is not part of the document
    const schema = request.routeOptions.schema?.body;
    if (text.length > LARGE_BODY_CHARACTERS) return callbackify(() => readLarge(text, schema))(done);
    void parse(request, text, (error: Error | null, body?: unknown) => {
      if (error) return done(refusal(isJson(text) ? new PoisonedKeyError() : error));
      const fault = storeProblem(body, NAMED); // must run before anything that recurses
      if (fault !== undefined) return done(new ApiError('invalid_request', fault));
      const repeated = repeatedKey(text);
      if (repeated !== undefined) return done(new ApiError('invalid_request', repeatedFault(repeated)));
      if (!mayHoldRawNumbers(text)) return done(null, body);
      const exact = parseExact(text);
      const inexact = storeProblem(exact, NAMED);
      if (inexact !== undefined) return done(new ApiError('invalid_request', inexact));
      // Without a schema, no part of the body is stored.
      done(null, schema === undefined ? body : settleNumbers(exact, schema));
    });
  });
}

/** Does the same for a large body, in turns with other work. The rules are equal. */
async function readLarge(text: string, schema: unknown): Promise<unknown> {
  const { body, hasRawNumbers } = await parseLargeBody(text).catch(refuse);
  const fault = await faultOfLargeBody(body, NAMED).catch(refuse);
  if (fault !== undefined) throw new ApiError('invalid_request', fault);
  const repeated = await repeatedKeyInTurns(text);
  if (repeated !== undefined) throw new ApiError('invalid_request', repeatedFault(repeated));
  return hasRawNumbers && schema !== undefined ? settleNumbers(body, schema) : body;
}

/** Only one of the two values could be stored, and the server cannot know which one the sender meant. */
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

/** True for valid JSON. If the framework refuses valid JSON, it contains a key that would poison a prototype. */
function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
