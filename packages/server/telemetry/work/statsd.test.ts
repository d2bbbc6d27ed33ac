import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import type { WorkFact } from '../../db/work/fold-work.ts';
import { linesOfFacts, linesOfGauges, packetsOf, sendPackets } from './statsd.ts';

const fact = (parts: Partial<WorkFact>): WorkFact => ({
  id: 1,
  tenant: 'default',
  tenant_id: '00000000-0000-0000-0000-000000000000',
  dag_id: 'etl',
  kind: 'attempt',
  state: 'success',
  has_run: true,
  task_id: 'load',
  operator: 'BashOperator',
  cause: null,
  run: null,
  seconds: 1.5,
  queued_seconds: null,
  scheduled_seconds: null,
  at: '2026-01-01T00:00:00.000000Z',
  queue: 'default',
  usage: null,
  ...parts,
});
const PLAIN = { prefix: 'airflow', hasTags: false, perTask: false };

it('an attempt has the names that a StatsD mapping of Airflow expects', () => {
  expect(linesOfFacts([fact({})], PLAIN)).toEqual([
    'airflow.ti.start.etl.load:1|c',
    'airflow.ti.finish.etl.load.success:1|c',
    'airflow.ti_successes:1|c',
    'airflow.operator_successes_BashOperator:1|c',
    'airflow.dag.etl.load.duration:1500|ms',
  ]);
  expect(linesOfFacts([fact({ usage: '{"cpu":1.5,"run":2}' })], PLAIN)).toContain(
    'airflow.task.cpu_usage.etl.load:75|g',
  );
  expect(linesOfFacts([fact({ kind: 'run_ended', state: 'failed' })], PLAIN)).toEqual([
    'airflow.dagrun.duration.failed.etl:1500|ms',
  ]);
});

it('tags name the task only where it was asked for, and a name of an author cannot add a tag or a line', () => {
  const lines = (perTask: boolean): string[] =>
    linesOfFacts([fact({ dag_id: 'a,b\nc|#d:e' })], { prefix: '', hasTags: true, perTask });
  expect(lines(false)[0]).toBe('ti.start:1|c|#tenant:default,dag_id:a_b_c__d_e');
  expect(lines(true)[0]).toBe('ti.start:1|c|#tenant:default,dag_id:a_b_c__d_e,task_id:load');
});

it('an infinite gauge is not sent, because StatsD has no such number', () => {
  const pool = (value: number) => ({ metric: 'pool.open_slots' as const, labels: ['default', 'small'], value });
  expect(linesOfGauges([pool(3), pool(Infinity)], PLAIN)).toEqual(['airflow.pool.open_slots.small:3|g']);
});

it('lines arrive, several in one packet that no network divides', async () => {
  const receiver = createSocket('udp4');
  receiver.bind(0, '127.0.0.1');
  await once(receiver, 'listening');
  const lines = Array.from({ length: 100 }, (_, index) => `airflow.ti.start.dag_${index}.task:1|c`);
  const packets = packetsOf(lines);
  expect(packets.length).toBeGreaterThan(1);
  expect(Math.max(...packets.map((packet) => packet.length))).toBeLessThanOrEqual(1_400);
  const received: string[] = [];
  const all = new Promise<void>((resolve) => {
    receiver.on('message', (message) => {
      if (received.push(...message.toString().split('\n')) === lines.length) resolve();
    });
  });
  await sendPackets(packets, { host: '127.0.0.1', port: (receiver.address() as AddressInfo).port });
  await all;
  receiver.close();
  expect(received).toEqual(lines);
});
