import { expect, test } from 'vitest';
import { loadConfig } from './load.ts';
import type { Config } from './load.ts';
import {
  agentControlPlaneAddr,
  autoRefreshSeconds,
  basePath,
  dispatchWorkers,
  editionOf,
  secretsBackendKwargs,
} from './resolved.ts';

function config(env: Record<string, string>): Config {
  return loadConfig({ env }).config;
}

test('agents dial the listener unless told otherwise', () => {
  expect(agentControlPlaneAddr(config({ SVC_SERVER_GRPC_ADDR: '0.0.0.0:7000' }))).toBe('0.0.0.0:7000');
  expect(agentControlPlaneAddr(config({ SVC_EXECUTOR_AGENT_CONTROL_PLANE_ADDR: 'svc:9091' }))).toBe('svc:9091');
});

test('a refresh of 0 falls back to 30 seconds', () => {
  expect(autoRefreshSeconds(config({}))).toBe(30);
  expect(autoRefreshSeconds(config({ SVC_UI_AUTO_REFRESH_INTERVAL_SECONDS: '1' }))).toBe(1);
});

test.each([
  ['0', '4', 0],
  ['-1', '4', 0],
  ['10', '0', 1],
  ['10', '-3', 1],
  ['10', '4', 4],
])('buffer %s and %s workers give %d', (size, workers, expected) => {
  const env = { SVC_SCHEDULER_DISPATCH_BUFFER_SIZE: size, SVC_SCHEDULER_DISPATCH_WORKERS: workers };
  expect(dispatchWorkers(config(env))).toBe(expected);
});

test.each([
  ['', ''],
  ['https://flows.example.com', ''],
  ['https://flows.example.com/', ''],
  ['https://flows.example.com/svc/', '/svc'],
  ['http://localhost:8080/a/b', '/a/b'],
])('the base path of %j is %j', (url, expected) => {
  expect(basePath(config({ SVC_SERVER_BASE_URL: url }))).toBe(expected);
});

test('only the two known editions count', () => {
  expect(['lite', 'pro', 'Pro', ''].map((edition) => editionOf(config({ SVC_UI_EDITION: edition })))).toEqual([
    'lite',
    'pro',
    undefined,
    undefined,
  ]);
});

test('empty backend arguments are an empty JSON object', () => {
  expect(secretsBackendKwargs(config({}))).toBe('{}');
  expect(secretsBackendKwargs(config({ SVC_SECRETS_BACKEND_KWARGS: '{"a": 1}' }))).toBe('{"a": 1}');
});
