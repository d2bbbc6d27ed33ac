import { expect, it } from 'vitest';
import type { ManagedExecutor } from '../engine/executor.ts';
import type { Attempt } from '../engine/shared/attempts.ts';
import { remoteLane } from '../engine/shared/lanes.ts';
import type { Lanes, Routing } from '../engine/shared/lanes.ts';
import { createSeveralExecutors } from './several.ts';

const ROUTING: Routing = { defaultExecutor: 'remote', remoteQueues: [] };
let number = 0;
const attempt = (executor: string | null, queue = 'default'): Attempt => ({
  tenantId: 't',
  run: 1,
  taskId: 'a',
  mapIndex: -1,
  attemptId: `a${(number += 1)}`,
  dagId: 'd',
  versionNumber: 1,
  tryNumber: 1,
  queue,
  executor,
});

function scripted(name: string, told: string[], more: Partial<ManagedExecutor> = {}): ManagedExecutor {
  const tell = (what: string) => void told.push(`${name}: ${what}`);
  return {
    capacity: () => 2,
    dispatch: (attempts) => tell(`dispatch ${attempts.map(({ queue }) => queue).join(' ')}`),
    adopt: ({ queue }) => tell(`adopt ${queue}`),
    holds: () => [{ tenantId: 't', run: 1, taskId: name, mapIndex: -1, attemptId: name }],
    cancel: (ids) => tell(`cancel ${ids.join(' ')}`),
    onCapacity: () => {},
    dispatchCallbacks: () => tell('callbacks'),
    triggererPer: 'environment',
    dispatchTriggerers: () => tell('triggerers'),
    cancelTriggerers: () => {},
    start: () => tell('start'),
    isConnected: () => name === 'subprocess',
    close: async () => tell('close'),
    ...more,
  };
}

function remoteLanes(free: number): () => Lanes {
  return () => {
    let left = free;
    return {
      ...ROUTING,
      open: left > 0 ? [remoteLane({ tenantId: 't', queue: 'gpu' })] : [],
      suits: ({ queue }) => queue === 'gpu' && left > 0,
      take: () => void (left -= 1),
    };
  };
}

it('gives each attempt to the executor its task names, and to the default what names none', async () => {
  const told: string[] = [];
  const several = createSeveralExecutors({
    executors: new Map([
      ['remote', scripted('remote', told, { lanes: remoteLanes(1) })],
      ['subprocess', scripted('subprocess', told)],
    ]),
    routing: ROUTING,
  });
  several.dispatch([attempt(null, 'gpu'), attempt('subprocess', 'x'), attempt('remote', 'big'), attempt('gone', 'y')]);
  several.adopt(attempt('subprocess', 'z'), 'a1');
  several.cancel(['a1']);
  // What is not a task's is run by the control plane itself, whatever the default is.
  several.dispatchCallbacks([]);
  several.dispatchTriggerers([]);
  expect(told).toEqual([
    'remote: dispatch gpu big',
    'subprocess: dispatch x',
    'subprocess: adopt z',
    'remote: cancel a1',
    'subprocess: cancel a1',
    'subprocess: callbacks',
    'subprocess: triggerers',
  ]);
  expect(several.holds().map(({ attemptId }) => attemptId)).toEqual(['remote', 'subprocess']);
  expect(several.capacity()).toBe(4);
  expect(several.isConnected()).toBe(true);
  await several.close('stop');
  expect(told.slice(-2)).toEqual(['remote: close', 'subprocess: close']);
});

it('has room in a lane for as many as it takes, and none for an executor that is not there', () => {
  const several = createSeveralExecutors({
    executors: new Map([
      ['remote', scripted('remote', [], { lanes: remoteLanes(1) })],
      ['subprocess', scripted('subprocess', [])],
    ]),
    routing: ROUTING,
  });
  const lanes = several.lanes?.();
  expect(lanes?.open).toEqual(['subprocess', 'remote/t/gpu']);
  const [gpu, local] = [attempt(null, 'gpu'), attempt('subprocess')];
  expect(lanes?.suits(attempt('orchestrator'))).toBe(false);
  expect(lanes?.suits(attempt(null, 'other'))).toBe(false);
  for (const [task, room] of [
    [gpu, 1],
    [local, 2],
  ] as const) {
    for (let taken = 0; taken < room; taken += 1) {
      expect(lanes?.suits(task)).toBe(true);
      lanes?.take(task);
    }
    expect(lanes?.suits(task)).toBe(false);
  }
});
