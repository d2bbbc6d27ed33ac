/** The metrics of work as lines of StatsD, under Airflow's names, with or without the tags of DogStatsD. */
import { createSocket } from 'node:dgram';
import type { WorkFact } from '../../db/work/fold-work.ts';
import { readUsage } from '../../db/work/stored-usage.ts';
import { definitionOf } from './work-metrics.ts';
import type { WorkSeries } from './work-series.ts';

/** Below the size at which a packet is divided on the usual networks. */
const PACKET_BYTES = 1_400;

export type StatsdFormat = { prefix: string; hasTags: boolean; perTask: boolean };

type Tags = Readonly<Record<string, string>>;
/** `legacy`: the name without tags, which contains their values. */
type Measured = { name: string; legacy: string; tags: Tags; value: string };

export function linesOfFacts(facts: readonly WorkFact[], format: StatsdFormat): string[] {
  return facts.flatMap((fact) => measuredOf(fact, format).map((measured) => lineOf(measured, format)));
}

/** Values that are infinite or have no number are left out. */
export function linesOfGauges(series: readonly WorkSeries[], format: StatsdFormat): string[] {
  return series
    .filter(({ metric, value }) => definitionOf(metric).type === 'gauge' && Number.isFinite(value))
    .map(({ metric, labels, value }) => {
      const tags = Object.fromEntries(definitionOf(metric).labels.map((name, index) => [name, labels[index] ?? '']));
      const pool = tags['pool'];
      return lineOf(
        { name: metric, legacy: pool === undefined ? metric : `${metric}.${safe(pool)}`, tags, value: `${value}|g` },
        format,
      );
    });
}

function measuredOf(fact: WorkFact, { perTask }: StatsdFormat): Measured[] {
  const { tenant, dag_id: dagId, task_id: taskId, state, operator, seconds } = fact;
  const ofDag: Tags = { tenant, dag_id: dagId };
  const ofTask: Tags = perTask ? { ...ofDag, task_id: taskId } : ofDag;
  const [dag, task] = [safe(dagId), safe(taskId)];
  const one = (name: string, legacy: string, tags: Tags): Measured => ({ name, legacy, tags, value: '1|c' });
  const time = (name: string, legacy: string, tags: Tags, value: number | null): Measured[] =>
    value === null ? [] : [{ name, legacy, tags, value: `${Number((value * 1_000).toFixed(3))}|ms` }];
  switch (fact.kind) {
    case 'attempt': {
      const outcome =
        state === 'success' ? 'successes' : state === 'failed' || state === 'up_for_retry' ? 'failures' : null;
      return [
        ...(fact.has_run ? [one('ti.start', `ti.start.${dag}.${task}`, ofTask)] : []),
        ...(state !== null && state !== 'scheduled'
          ? [one('ti.finish', `ti.finish.${dag}.${task}.${state}`, { ...ofTask, state })]
          : []),
        ...(outcome
          ? [
              one(`ti_${outcome}`, `ti_${outcome}`, ofTask),
              one(`operator_${outcome}`, `operator_${outcome}_${safe(operator ?? '')}`, {
                tenant,
                operator_name: operator ?? '',
              }),
            ]
          : []),
        ...cpuUsage(fact.usage, `task.cpu_usage.${dag}.${task}`, ofTask),
        ...time('task.duration', `dag.${dag}.${task}.duration`, ofTask, seconds),
        ...time('task.queued_duration', `dag.${dag}.${task}.queued_duration`, ofTask, fact.queued_seconds),
        ...time('task.scheduled_duration', `dag.${dag}.${task}.scheduled_duration`, ofTask, fact.scheduled_seconds),
      ];
    }
    case 'run_ended':
      return time(`dagrun.duration.${state}`, `dagrun.duration.${state}.${dag}`, ofDag, seconds);
    case 'run_started':
      return time('dagrun.schedule_delay', `dagrun.schedule_delay.${dag}`, ofDag, seconds);
    case 'asset_event':
      return [one('asset.updates', 'asset.updates', { tenant })];
    case 'asset_run':
      return [one('asset.triggered_dagruns', 'asset.triggered_dagruns', { tenant })];
  }
}

/** The percentage of one processor that a try has used. */
function cpuUsage(usage: string | null, legacy: string, tags: Tags): Measured[] {
  const { cpu, run = 0 } = readUsage(usage);
  if (cpu === undefined || run <= 0) return [];
  return [{ name: 'task.cpu_usage', legacy, tags, value: `${Number(((100 * cpu) / run).toFixed(1))}|g` }];
}

function lineOf({ name, legacy, tags, value }: Measured, { prefix, hasTags }: StatsdFormat): string {
  const start = prefix === '' ? '' : `${prefix}.`;
  if (!hasTags) return `${start}${legacy}:${value}`;
  const text = Object.entries(tags).map(([key, tag]) => `${key}:${safe(tag)}`);
  return `${start}${name}:${value}${text.length === 0 ? '' : `|#${text.join(',')}`}`;
}

/** The characters that Airflow allows in a name. Others would end the name, or begin a tag. */
const safe = (text: string): string => text.replaceAll(/[^\w.\-/]/g, '_');

/** Joins lines into packets. */
export function packetsOf(lines: readonly string[]): string[] {
  const packets: string[] = [];
  for (const line of lines) {
    const last = packets.at(-1);
    if (last !== undefined && last.length + line.length < PACKET_BYTES)
      packets[packets.length - 1] = `${last}\n${line}`;
    else packets.push(line);
  }
  return packets;
}

export async function sendPackets(packets: readonly string[], to: { host: string; port: number }): Promise<void> {
  const socket = createSocket(to.host.includes(':') ? 'udp6' : 'udp4');
  try {
    for (const packet of packets) {
      await new Promise<void>((resolve, reject) => {
        socket.send(packet, to.port, to.host, (error) => (error ? reject(error) : resolve()));
      });
    }
  } finally {
    socket.close();
  }
}
