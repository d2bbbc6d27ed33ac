/** `svc cost`: what tasks have used and cost, and advice from the last runs of a DAG. */
import type { Cost, CostAdvice } from '@svc/client/wire-types.ts';
import { Option } from 'commander';
import { usageError } from '../cli-error.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { parseCount } from '../runs/run-options.ts';
import type { SvcCommand } from '../svc-command.ts';

const GROUPS = ['dag', 'task', 'owner', 'tag', 'asset', 'queue', 'tenant'] as const;
type Options = ClientCommandOptions & {
  by: (typeof GROUPS)[number];
  since: string;
  dag?: string;
  advice?: boolean;
  limit: number;
};
type Sums = Cost['total'];

const DEFAULT_LIMIT = 25;
const DAY_MS = 86_400_000;

export function addCostCommand(program: SvcCommand, context: CliContext): void {
  withClientOptions(program.command('cost'))
    .description('Show what tasks have used and cost, the most expensive first')
    .addOption(new Option('--by <group>', 'how to add up').choices(GROUPS).default('dag'))
    .option('--since <time>', 'days such as 7d, or the first day (UTC) such as 2026-11-01', '7d')
    .option('--dag <dag-id>', 'only this DAG')
    .option('--advice', 'suitable resources of the tasks of --dag, from its last 30 runs')
    .option('--limit <number>', 'how many lines', parseCount, DEFAULT_LIMIT)
    .note('Prices are in the configuration of the server: cost.cpu_hour, cost.gib_hour and others.')
    .example('the owners of the last month', 'svc cost --by owner --since 30d')
    .example('the tasks of a DAG', 'svc cost --by task --dag etl')
    .example('what to change', 'svc cost --dag etl --advice')
    .action((options: Options) => (options.advice ? advise(context, options) : show(context, options)));
}

async function show(context: CliContext, options: Options): Promise<void> {
  const since = firstDayOf(options.since);
  const client = await connect(context, options);
  const cost = await client.get('/api/v2/cost', {
    query: { by: options.by, since, limit: options.limit, ...(options.dag !== undefined && { dag_id: options.dag }) },
  });
  if (options.json) {
    printJson(context, cost);
    return;
  }
  if (cost.groups.length === 0) {
    context.stderr.write(`No try has ended since ${since} whose usage is known.\n`);
    return;
  }
  const hasMoney = cost.currency !== null;
  const hasWaits = cost.groups.some(({ waits }) => waits !== null);
  printTable(context.stdout, {
    columns: [
      { title: options.by.toUpperCase(), value: (row) => row.key || '(none)' },
      ...(hasMoney
        ? [{ title: `COST (${cost.currency})`, value: (row: Sums) => moneyText(row.cost), align: 'right' as const }]
        : []),
      { title: 'TRIES', value: (row) => String(row.tries), align: 'right' },
      { title: 'CPU HOURS', value: (row) => hoursText(row.cpu_seconds), align: 'right' },
      { title: 'GIB HOURS', value: (row) => hoursText(row.gib_seconds), align: 'right' },
      { title: 'PEAK', value: (row) => bytesText(row.memory_bytes), align: 'right' },
      { title: 'READ', value: (row) => bytesText(row.read_bytes), align: 'right' },
      { title: 'WRITTEN', value: (row) => bytesText(row.written_bytes), align: 'right' },
      ...(hasWaits ? [{ title: 'WAITED LONGEST FOR', value: longestWait }] : []),
    ],
    rows: [...cost.groups, { ...cost.total, key: 'total', waits: null }],
  });
  if (cost.total_entries > cost.groups.length)
    context.stderr.write(`${cost.total_entries - cost.groups.length} more: raise --limit.\n`);
}

function longestWait({ waits }: { waits: Cost['groups'][number]['waits'] }): string {
  const [longest] = waits ?? [];
  return longest === undefined ? '' : `${longest.reason} ${durationText(longest.seconds)}`;
}

async function advise(context: CliContext, options: Options): Promise<void> {
  if (options.dag === undefined) throw usageError('--advice is about one DAG: give --dag');
  const client = await connect(context, options);
  const { tasks } = await client.get('/api/v2/dags/{dag_id}/costAdvice', { path: { dag_id: options.dag } });
  if (options.json) {
    printJson(context, tasks);
    return;
  }
  if (tasks.length === 0) {
    context.stderr.write(`No task of ${options.dag} has succeeded in its last 30 runs with a known usage.\n`);
    return;
  }
  type Row = CostAdvice['tasks'][number];
  printTable<Row>(context.stdout, {
    columns: [
      { title: 'TASK', value: (row) => row.task_id },
      { title: 'TRIES', value: (row) => String(row.tries), align: 'right' },
      { title: 'PEAK', value: (row) => bytesText(row.memory_max_bytes), align: 'right' },
      { title: 'CPUS', value: (row) => row.cpus_p95.toFixed(2), align: 'right' },
      { title: 'MEDIAN', value: (row) => durationText(row.seconds_median), align: 'right' },
      { title: 'REQUESTED', value: (row) => resourcesText(row.requested) },
      { title: 'SUITABLE', value: (row) => resourcesText(row.suitable) },
      { title: 'ADVICE', value: (row) => row.advice.map(({ text }) => text).join('; ') },
    ],
    rows: tasks,
  });
}

const resourcesText = ({ cpu, memory }: { cpu: string | null; memory: string | null }): string =>
  [cpu === null ? '' : `cpu: ${cpu}`, memory === null ? '' : `memory: ${memory}`].filter(Boolean).join(', ') || '-';

function firstDayOf(text: string): string {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? [];
  if (days !== undefined) return new Date(Date.now() - Number(days) * DAY_MS).toISOString().slice(0, 10);
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && !Number.isNaN(Date.parse(text))) return text;
  throw usageError(`${text} is no time`, 'give days such as 7d, or a day such as 2026-11-01');
}

const moneyText = (amount: number | null): string => (amount === null ? '-' : amount.toFixed(amount < 1 ? 4 : 2));
const hoursText = (seconds: number): string => (seconds / 3_600).toFixed(seconds < 36_000 ? 3 : 1);

function durationText(seconds: number): string {
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  return seconds < 3_600 ? `${(seconds / 60).toFixed(1)} min` : `${(seconds / 3_600).toFixed(1)} h`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

function bytesText(bytes: number): string {
  const step = Math.min(UNITS.length - 1, bytes < 1 ? 0 : Math.floor(Math.log2(bytes) / 10));
  return `${(bytes / 2 ** (10 * step)).toFixed(step === 0 ? 0 : 1)} ${UNITS[step]}`;
}
