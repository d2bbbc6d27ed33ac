import { describe, expect, it } from 'vitest';
import { DatabaseUnavailableError, isOutage, meansOutage } from './outage.ts';

const coded = (code: string, more: object = {}) => Object.assign(new Error('said no'), { code, ...more });

describe('meansOutage', () => {
  it.each([
    ['nobody listens', coded('ECONNREFUSED')],
    ['the socket broke', coded('ECONNRESET')],
    ['the name does not resolve', coded('EAI_AGAIN')],
    ['the Unix socket is not there', coded('ENOENT', { syscall: 'connect' })],
    ['every address refused', new AggregateError([coded('ECONNREFUSED'), coded('ECONNREFUSED')])],
    ['shut down by an administrator', coded('57P01')],
    ['starting up', coded('57P03')],
    ['too many connections', coded('53300')],
    ['disk full', coded('53100')],
    ['demoted to a standby', coded('25006')],
    ['idle in a transaction for too long', coded('25P03')],
    ['pg: cut off', new Error('Connection terminated unexpectedly')],
    ['pg: no connection free', new Error('timeout exceeded when trying to connect')],
    ['pg: no answer while connecting', new Error('timeout expired')],
    ['pg: no answer to a statement', new Error('Query read timeout')],
  ])('is true when %s', (_when, error) => {
    expect(meansOutage(error)).toBe(true);
  });

  it.each([
    ['a key exists already', coded('23505')],
    ['a statement is wrong', coded('42601')],
    ['a deadlock', coded('40P01')],
    ['a statement was cancelled at its timeout: the database answered', coded('57014')],
    ['a file of ours is missing', coded('ENOENT', { syscall: 'open' })],
    ['a bug of ours', new TypeError('x is not a function')],
    ['something that is no error', 'ECONNREFUSED'],
  ])('is false when %s', (_when, error) => {
    expect(meansOutage(error)).toBe(false);
  });
});

it('the refused connection of another service is no outage of the database', () => {
  expect(isOutage(coded('ECONNREFUSED'))).toBe(false);
  expect(isOutage(new DatabaseUnavailableError(coded('ECONNREFUSED'), true))).toBe(true);
});
