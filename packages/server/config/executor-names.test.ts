import { describe, expect, it } from 'vitest';
import { checkExecutors, executorNames } from './executor-names.ts';
import { loadConfig } from './load.ts';

const load = (flags: Record<string, string | string[]>) => loadConfig({ env: {}, flags });
const problemsOf = (flags: Record<string, string | string[]>): string[] =>
  checkExecutors(load(flags).config).map(({ key, message }) => `${key}: ${message}`);

describe('executor.type', () => {
  it('names one executor or several, the default first', () => {
    expect(executorNames(load({}).config)).toEqual(['orchestrator']);
    expect(executorNames(load({ 'executor.type': 'subprocess' }).config)).toEqual(['subprocess']);
    expect(executorNames(load({ 'executor.type': 'remote, orchestrator,subprocess' }).config)).toEqual([
      'remote',
      'orchestrator',
      'subprocess',
    ]);
  });

  it.each([
    'celery',
    'subprocess,subprocess',
    'remote,subprocess,remote',
    'subprocess,',
    ',remote',
    'subprocess remote',
  ])('refuses %s, and says what it may be', (type) => {
    expect(() => load({ 'executor.type': type })).toThrow(/executor\.type.*separated by commas, each once/s);
  });

  it('refuses executors of teams in words', () => {
    expect(() => load({ 'executor.type': 'subprocess,team1=subprocess' })).toThrow(/teams.*tenants of their own/s);
  });

  it('does not boot with remote workers alone, nor with queues for an executor that is not there', () => {
    expect(problemsOf({ 'executor.type': 'remote' })).toEqual([
      expect.stringMatching(/^executor\.type: .*remote alone/),
    ]);
    expect(problemsOf({ 'executor.type': 'subprocess', 'executor.remote-queues': ['gpu'] })).toEqual([
      expect.stringContaining('SVC_EXECUTOR_TYPE=subprocess,remote'),
    ]);
    expect(problemsOf({ 'executor.type': 'remote,subprocess', 'executor.remote-queues': ['gpu'] })).toEqual([]);
  });
});
