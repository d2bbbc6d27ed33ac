import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createMetrics } from '@svc/server/telemetry/metrics.ts';
import {
  LEFT_OUT,
  SERVES_WORK,
  WORK_METRICS,
  definitionOf,
  prometheusName,
} from '@svc/server/telemetry/work/work-metrics.ts';
import type { WorkMetricName } from '@svc/server/telemetry/work/work-metrics.ts';

const CHART = join(import.meta.dirname, '..', '..', 'deploy', 'chart');
const read = (name: string): string => readFileSync(join(CHART, name), 'utf8');

/** Each metric that a scrape may have, with the suffixes of its type, and the labels of those of work. */
async function knownMetrics(): Promise<Map<string, readonly string[] | undefined>> {
  const metrics = createMetrics({ version: '1' });
  metrics.watchDatabasePool(() => ({ idle: 0, busy: 0, waiting: 0 }));
  metrics.watchScheduler(() => undefined);
  const known = new Map<string, readonly string[] | undefined>([
    [LEFT_OUT, []],
    [SERVES_WORK, []],
  ]);
  for (const [, name = '', type] of (await metrics.exposition()).matchAll(/^# TYPE (\S+) (\S+)$/gm)) {
    for (const suffix of type === 'histogram' ? ['_bucket', '_sum', '_count'] : [''])
      known.set(name + suffix, undefined);
  }
  for (const metric of Object.keys(WORK_METRICS) as WorkMetricName[]) {
    const { type, labels } = definitionOf(metric);
    const name = prometheusName(metric);
    for (const suffix of type === 'summary' ? ['', '_sum', '_count'] : ['']) known.set(name + suffix, labels);
  }
  return known;
}

/** The metrics of expressions, with the labels that each selects by or groups by. */
function asked(expressions: readonly string[]): { name: string; labels: string[] }[] {
  return expressions.flatMap((expression) => {
    const grouped = [...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '));
    return [...expression.matchAll(/([a-z_][a-z_0-9]*)\{([^}]*)\}/g)].map(([, name = '', selector = '']) => ({
      name,
      labels: [...grouped, ...[...selector.matchAll(/(\w+)=~?"/g)].map(([, label = '']) => label)],
    }));
  });
}

/** Labels that Prometheus or the operator adds. */
const OF_TARGETS = new Set(['namespace', 'service', 'pod', 'instance', 'le', 'version']);

const dashboard = (name: string): string[] => {
  const { panels } = JSON.parse(read(name)) as { panels: { targets: { expr: string }[] }[] };
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr));
};
const rules = (): string[] =>
  [...read('rules/svc.yaml').matchAll(/^\s+expr: (.*)$/gm)].map(([, expr = '']) =>
    expr.replaceAll('{{ .Release.Namespace }}', 'svc'),
  );

describe('dashboards and alerting rules of the chart', () => {
  it.each([
    ['dashboards/svc.json', () => dashboard('dashboards/svc.json')],
    ['dashboards/svc-work.json', () => dashboard('dashboards/svc-work.json')],
    ['rules/svc.yaml', rules],
  ])(
    '%s asks only for metrics and labels that exist, or a panel stays empty and an alert never fires',
    async (_name, load) => {
      const known = await knownMetrics();
      const expressions = load();
      const wanted = asked(expressions);
      expect(wanted.length).toBeGreaterThanOrEqual(expressions.length);
      expect(wanted.filter(({ name }) => !known.has(name))).toEqual([]);
      const strange = wanted.filter(({ name, labels }) => {
        const own = known.get(name);
        return own !== undefined && labels.some((label) => !own.includes(label) && !OF_TARGETS.has(label));
      });
      expect(strange).toEqual([]);
    },
  );
});
