import { expect, it } from 'vitest';
import { undeclaredAnswer } from './undeclared-answer.ts';

const declared = {
  200: { content: { 'application/json': {}, 'text/plain': {} } },
  201: { type: 'object' },
  204: { type: 'null' },
  400: { content: { 'application/problem+json': {} } },
};
const judge = (status: number, contentType?: string): string | undefined =>
  undeclaredAnswer({ operation: 'GET /x', status, contentType, declared });

it('a status that an operation does not declare is found', () => {
  expect(judge(409, 'application/problem+json')).toBe('GET /x answered 409, which it does not declare');
  expect(undeclaredAnswer({ operation: 'GET /x', status: 200, contentType: undefined, declared: undefined })).toMatch(
    'does not declare',
  );
});

it('a content type that the status does not have is found, whatever its parameters', () => {
  expect(judge(200, 'text/html; charset=utf-8')).toBe(
    'GET /x answered 200 as "text/html", and declares "application/json", "text/plain"',
  );
  expect(judge(400, 'text/plain')).toMatch('declares "application/problem+json"');
  expect(judge(201)).toMatch('answered 201 as "", and declares "application/json"');
});

it('what is declared passes', () => {
  expect([
    judge(200, 'application/json; charset=utf-8'),
    judge(200, 'text/plain'),
    judge(201, 'application/json'),
    judge(204),
    judge(400, 'application/problem+json'),
  ]).toEqual([undefined, undefined, undefined, undefined, undefined]);
});
