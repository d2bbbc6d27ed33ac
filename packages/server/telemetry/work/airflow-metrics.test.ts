import { describe, expect, it } from 'vitest';
import { createMetrics } from '../metrics.ts';
import { AIRFLOW_METRICS } from './airflow-metrics.ts';
import { WORK_METRICS } from './work-metrics.ts';

describe("the table of Airflow's metrics", () => {
  it('names each metric once, and every metric of work stands in it', () => {
    const names = AIRFLOW_METRICS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.length).toBeGreaterThan(80); // as many as on Airflow's page
    const have = AIRFLOW_METRICS.flatMap((metric) => ('have' in metric ? [metric.have] : []));
    const isAirflows = (name: string): boolean => !name.startsWith('svc.');
    expect(have.filter(isAirflows).toSorted()).toEqual(Object.keys(WORK_METRICS).filter(isAirflows).toSorted());
  });

  it('names no metric of a process that does not exist', async () => {
    const metrics = createMetrics({ version: '1' });
    metrics.watchWorkers(async () => []);
    const text = await metrics.exposition();
    const others = AIRFLOW_METRICS.flatMap((metric) => ('other' in metric ? [metric.other] : []));
    expect(others.filter((name) => !text.includes(`# TYPE ${name} `))).toEqual([]);
  });
});
