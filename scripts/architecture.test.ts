/**
 * Arrows point downward only. The map is docs/architecture.md; this keeps the code to it: every arrow that is drawn here
 * exists, and none that is not drawn.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { describe, expect, it } from 'vitest';

const ROOT = resolve(import.meta.dirname, '..');

type Arrows = Record<string, readonly string[]>;

/** What each package imports beside itself and libraries. */
const PACKAGES: Arrows = {
  spec: [],
  web: [],
  proto: ['spec'],
  client: ['spec'],
  'local-postgres': [],
  mcp: ['client', 'spec'],
  compiler: ['spec'],
  agent: ['compiler', 'proto', 'spec'],
  server: ['proto', 'spec', 'web'],
  // Compiling needs the environments that tasks have.
  cli: ['agent', 'client', 'compiler', 'local-postgres', 'proto', 'server', 'spec', 'web'],
  // Harnesses put the whole product together, as its users do; nothing of the product imports them.
  testing: ['agent', 'cli', 'client', 'compiler', 'local-postgres', 'mcp', 'proto', 'server', 'spec', 'web'],
};

/** What each folder of the server imports. The files beside the folders put them together. */
const SERVER: Arrows = {
  config: [],
  db: [],
  // Metrics of work are made from what the database counts.
  telemetry: ['db'],
  tls: ['config'],
  workspace: [],
  auth: ['db'],
  vault: ['db'],
  redis: ['config'],
  logs: ['config', 'db', 'redis'],
  // Large values are kept where logs are.
  xcom: ['config', 'db', 'logs', 'redis'],
  engine: ['db', 'xcom'],
  // One diagnosis, which the API, alerts and all clients read.
  diagnosis: ['db', 'engine', 'logs'],
  // Rules, the outbox, channels.
  alerts: ['db', 'diagnosis', 'engine', 'vault'],
  retention: ['db', 'logs'],
  registry: ['db', 'engine'],
  // Workers join with tokens that are made like those of service accounts.
  agents: ['auth', 'config', 'db', 'engine', 'logs', 'tls', 'vault', 'xcom'],
  executors: ['agents', 'config', 'db', 'engine'],
  // The process that syncs a bundle is started like an agent.
  delivery: ['config', 'db', 'executors', 'registry', 'vault'],
  http: ['auth', 'config', 'db', 'tls', 'vault'],
  api: [
    'alerts',
    'auth',
    'config',
    'db',
    'diagnosis',
    'delivery',
    'engine',
    'http',
    'logs',
    'registry',
    'telemetry',
    'vault',
    'workspace',
    'xcom',
  ],
};

/** The same within the engine: pure planning and statements at the bottom, what people do at the top. */
const ENGINE: Arrows = {
  plan: [],
  sql: [],
  shared: ['plan', 'sql'],
  claim: ['shared', 'sql'],
  advance: ['claim', 'plan', 'shared', 'sql'],
  runs: ['advance', 'claim', 'plan', 'shared', 'sql'],
  triggers: ['advance', 'runs', 'shared', 'sql'],
  edit: ['advance', 'plan', 'runs', 'shared', 'sql'],
  // One run in memory, for `dag.test()`.
  'single-run': ['advance', 'plan', 'runs', 'shared', 'sql'],
};

/** Resources of the HTTP API. The web UI's private endpoints may show anything. */
const RESOURCES: Arrows = {
  alerts: [],
  assets: [],
  auth: [],
  backfills: [],
  bundles: [],
  connections: [],
  cost: ['task-instances'],
  ide: [],
  logs: [],
  monitor: ['dags', 'tabs'],
  pools: [],
  tabs: [],
  variables: [],
  workers: [],
  dags: ['logs'],
  'task-instances': ['dags', 'monitor'],
  xcoms: ['dags'],
  diagnosis: ['task-instances'],
  hitl: ['dags', 'task-instances'],
  'dag-runs': ['assets', 'dags', 'logs', 'task-instances'],
  ui: ['auth', 'backfills', 'connections', 'dag-runs', 'dags', 'hitl'],
};

type SourceFile = { path: string; imports: readonly string[]; text: string };

const isProduct = (path: string): boolean => !path.endsWith('.test.ts');

function readSources(folder: string): SourceFile[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .map((path) => {
      const text = readFileSync(join(ROOT, path), 'utf8');
      return { path, text, imports: importsOf(path, text) };
    });
}

/** Of our own files, relative to the repository. */
function importsOf(path: string, text: string): string[] {
  return [...text.matchAll(/(?:from|import|import\()\s*'([^']+)'/g)].flatMap(([, specifier = '']) => {
    if (specifier.startsWith('@svc/')) return [`packages/${specifier.slice('@svc/'.length)}`];
    return specifier.startsWith('.') ? [relative(ROOT, resolve(ROOT, dirname(path), specifier))] : [];
  });
}

const SOURCES = [...readSources('packages'), ...readSources('scripts'), ...readSources('bench')];
const PRODUCT = SOURCES.filter(({ path }) => path.startsWith('packages/') && isProduct(path));

/** The arrows between the folders of `folder`. What lies beside the folders is no end of an arrow. */
function arrowsWithin(folder: string): Arrows {
  const unitOf = (path: string): string | undefined => {
    const [unit, ...inside] = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1).split('/') : [];
    return inside.length > 0 ? unit : undefined;
  };
  const arrows = new Map<string, Set<string>>();
  for (const { path, imports } of PRODUCT) {
    const from = unitOf(path);
    if (from === undefined) continue;
    const targets = arrows.get(from) ?? new Set();
    for (const target of imports) {
      const to = unitOf(target);
      if (to !== undefined && to !== from) targets.add(to);
    }
    arrows.set(from, targets);
  }
  return Object.fromEntries([...arrows].map(([from, targets]) => [from, [...targets].sort()]));
}

const inOrder = (arrows: Arrows): Arrows =>
  Object.fromEntries(Object.entries(arrows).map(([from, targets]) => [from, [...targets].sort()]));

/** Circles of a graph, each as the names in it. */
function circles(arrows: Arrows): string[][] {
  const found: string[][] = [];
  const done = new Set<string>();
  const visit = (name: string, path: readonly string[]): void => {
    if (path.includes(name)) return void found.push([...path.slice(path.indexOf(name)), name]);
    if (done.has(name)) return;
    for (const next of arrows[name] ?? []) visit(next, [...path, name]);
    done.add(name);
  };
  for (const name of Object.keys(arrows)) visit(name, []);
  return found;
}

describe('the map of imports', () => {
  it.each([
    ['packages', PACKAGES],
    ['packages/server', SERVER],
    ['packages/server/engine', ENGINE],
    ['packages/server/api', RESOURCES],
  ])('%s: the arrows between its folders are those drawn here, and none runs back up', (folder, drawn) => {
    expect(arrowsWithin(folder)).toEqual(inOrder(drawn));
    expect(circles(drawn)).toEqual([]);
  });

  it('no two files import each other, at any distance', () => {
    expect(circles(Object.fromEntries(PRODUCT.map(({ path, imports }) => [path, imports])))).toEqual([]);
  });

  it('scripts and benchmarks are imported by nobody, harnesses by tests only', () => {
    const above = (from: string, to: string): boolean =>
      (!from.startsWith('scripts/') && to.startsWith('scripts/')) ||
      (!from.startsWith('bench/') && to.startsWith('bench/')) ||
      (isProduct(from) && /^packages\/(?!testing\/)/.test(from) && to.startsWith('packages/testing/'));
    const found = SOURCES.flatMap(({ path, imports }) =>
      imports.filter((target) => above(path, target)).map((target) => `${path} → ${target}`),
    );
    expect(found).toEqual([]);
  });

  it('SQL is written in db/ and engine/sql/ only', () => {
    const writesSql = ({ text }: SourceFile): boolean =>
      /import (?!type\b)[^;]*from 'kysely'/.test(text) ||
      /\.(?:selectFrom|insertInto|updateTable|deleteFrom)\(/.test(text);
    const found = PRODUCT.filter(({ path }) => path.startsWith('packages/') && !path.startsWith('packages/testing/'))
      .filter(({ path }) => !/^packages\/server\/(?:db|engine\/sql)\//.test(path))
      .filter(writesSql);
    expect(found.map(({ path }) => path)).toEqual([]);
  });

  it('no folder holds more files side by side than a reader can take in', () => {
    const counts = Map.groupBy(PRODUCT, ({ path }) => dirname(path));
    // Migrations are one numbered list, and stay where they have landed.
    const isList = (folder: string): boolean => folder.includes('/generated/') || folder.endsWith('/db/migrations');
    const crowded = [...counts].filter(([folder, files]) => files.length > 30 && !isList(folder));
    expect(crowded.map(([folder, files]) => `${folder}: ${files.length}`)).toEqual([]);
  });
});
