/** `svc alerts`: rules, what was sent, mute, acknowledge, test. */
import type { Alert, AlertRule } from '@svc/client/wire-types.ts';
import { ALERT_CHANNELS, ALERT_EVENTS, isAlertEvent } from '@svc/spec/alerts/alert-events.ts';
import type { AlertChannel, AlertEvent } from '@svc/spec/alerts/alert-events.ts';
import { Option } from 'commander';
import { CliError, EXIT, usageError } from '../cli-error.ts';
import type { Client } from '../client/client.ts';
import { connect, withClientOptions } from '../client/connect.ts';
import type { ClientCommandOptions } from '../client/connect.ts';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { printTable } from '../output/terminal.ts';
import { timeText } from '../output/wording.ts';
import { parseCount } from '../runs/run-options.ts';
import type { SvcCommand } from '../svc-command.ts';

type AddOptions = ClientCommandOptions & {
  on: AlertEvent[];
  channel: AlertChannel;
  connection: string;
  target?: string;
  dag: string[];
  tag: string[];
  owner: string[];
  task: string[];
  afterTries: number;
  quiet?: string;
  lateAfter?: string;
  slowerThan?: number;
  stuckAfter?: string;
  staleAfter?: string;
};
type MuteOptions = ClientCommandOptions & { for?: string; off?: boolean };
type SentOptions = ClientCommandOptions & { open?: boolean; limit: number };

const RULES = '/api/v2/alerts/rules';
const DEFAULT_LIMIT = 25;

export function addAlertsCommands(program: SvcCommand, context: CliContext): void {
  const alerts = program.command('alerts').description('Manage alert rules, and see what was alerted');

  withClientOptions(alerts.command('list'))
    .description('List alert rules, and which channels fail')
    .action((options: ClientCommandOptions) => list(context, options));

  addAdd(alerts, context);

  withClientOptions(alerts.command('remove'))
    .description('Remove an alert rule, and what it has sent')
    .argument('<name>', 'name of the rule')
    .action(async (name: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      const rule = await ruleNamed(client, name);
      await client.delete(`${RULES}/{rule_id}`, { path: { rule_id: rule.id } });
      if (options.json) printJson(context, { removed: name });
      else context.stdout.write(`Removed ${name}.\n`);
    });

  withClientOptions(alerts.command('mute'))
    .description('Mute an alert rule: new alerts are recorded and not sent')
    .argument('<name>', 'name of the rule')
    .option('--for <time>', 'how long, such as 30m, 8h or 2d')
    .option('--off', 'end the mute')
    .example('during a migration', 'svc alerts mute nightly --for 4h')
    .action((name: string, options: MuteOptions) => mute(context, name, options));

  withClientOptions(alerts.command('test'))
    .description('Send a test message through the channel of a rule now')
    .argument('<name>', 'name of the rule')
    .action((name: string, options: ClientCommandOptions) => test(context, name, options));

  withClientOptions(alerts.command('sent'))
    .description('List alerts and what was sent, newest first')
    .option('--open', 'only alerts that are not over')
    .option('--limit <number>', 'how many to list', parseCount, DEFAULT_LIMIT)
    .action((options: SentOptions) => sent(context, options));

  withClientOptions(alerts.command('acknowledge'))
    .description('Acknowledge an alert: it sends no more updates, only its end')
    .argument('<alert-id>', 'id of the alert, as "svc alerts sent" shows it')
    .action(async (id: string, options: ClientCommandOptions) => {
      const client = await connect(context, options);
      const alert = await client.post('/api/v2/alerts/{alert_id}/acknowledge', { path: { alert_id: id } });
      if (options.json) printJson(context, alert);
      else context.stdout.write(`Acknowledged by ${alert.acknowledged_by}.\n`);
    });
}

const repeated = (word: string, before: string[]): string[] => [...before, word];

function addAdd(alerts: SvcCommand, context: CliContext): void {
  withClientOptions(alerts.command('add'))
    .description('Add an alert rule')
    .argument('<name>', 'name of the rule')
    .addOption(
      new Option('--on <event>', `an event; may be repeated (${ALERT_EVENTS.join(', ')})`)
        .default([], 'failed and recovered')
        .argParser((word, before) => {
          if (!isAlertEvent(word)) {
            throw usageError(`there is no event ${word}`, `events are ${ALERT_EVENTS.join(', ')}`);
          }
          return [...(before as string[]), word];
        }),
    )
    .addOption(new Option('--channel <channel>', 'where to send').choices(ALERT_CHANNELS).makeOptionMandatory())
    .requiredOption('--connection <conn-id>', 'the connection with the address and the secret')
    .option('--target <text>', 'the channel of a Slack bot, such as #alerts, or mail addresses')
    .option('--dag <glob>', 'only these DAGs; may be repeated', repeated, [])
    .option('--tag <glob>', 'only DAGs with such a tag; may be repeated', repeated, [])
    .option('--owner <glob>', 'only DAGs of such an owner; may be repeated', repeated, [])
    .option('--task <glob>', 'only these tasks; may be repeated', repeated, [])
    .option('--after-tries <number>', 'with "retried": from which failed try on', parseCount, 1)
    .option('--late-after <time>', 'with "late": not finished this long after a run was due, such as 30m or 2h')
    .option('--slower-than <factor>', 'with "late": slower than its own 95th percentile times this', parseFactor)
    .option('--stuck-after <time>', 'with "stuck": waits this long for a worker or a slot (default: 15m)')
    .option('--stale-after <time>', 'with "stale_schedule": the next run is overdue by this (default: 10m)')
    .option('--quiet <from-until>', 'quiet hours, such as "22:00-06:00" or "22:00-06:00 Europe/Berlin"')
    .example('all failures to Slack', 'svc alerts add failures --channel slack_webhook --connection slack')
    .example(
      'lost workers of some DAGs to PagerDuty',
      'svc alerts add on-call --on lost_worker --on recovered --dag "sales_*" --channel pagerduty --connection pagerduty',
    )
    .example(
      'slow runs and stuck tasks',
      'svc alerts add slow --on late --on stuck --slower-than 3 --channel teams --connection teams',
    )
    .action((name: string, options: AddOptions) => add(context, name, options));
}

async function add(context: CliContext, name: string, options: AddOptions): Promise<void> {
  const client = await connect(context, options);
  const rule = await client.post(RULES, {
    body: {
      name,
      events: options.on.length > 0 ? options.on : ['failed', 'recovered'],
      channel: options.channel,
      connection_id: options.connection,
      target: options.target ?? '',
      dags: options.dag,
      tags: options.tag,
      owners: options.owner,
      tasks: options.task,
      after_tries: options.afterTries,
      ...(options.quiet !== undefined && quietHours(options.quiet)),
      ...(options.lateAfter !== undefined && { late_seconds: secondsOf(options.lateAfter) }),
      ...(options.slowerThan !== undefined && { late_factor: options.slowerThan }),
      ...(options.stuckAfter !== undefined && { stuck_seconds: secondsOf(options.stuckAfter) }),
      ...(options.staleAfter !== undefined && { stale_seconds: secondsOf(options.staleAfter) }),
    },
  });
  if (options.json) printJson(context, rule);
  else context.stdout.write(`Added ${name}. Send a test message with: svc alerts test ${name}\n`);
}

function secondsOf(text: string): number {
  const [, number, unit = ''] = TIME.exec(text) ?? [];
  if (number === undefined) throw usageError(`${text} is no time`, 'write it as 30m, 8h or 2d');
  return (Number(number) * (UNITS[unit] ?? 0)) / 1_000;
}

function parseFactor(text: string): number {
  const factor = Number(text);
  if (Number.isFinite(factor) && factor >= 1) return factor;
  throw usageError(`${text} is no factor`, 'write a number from 1 on, such as 1.5');
}

function quietHours(text: string) {
  const [, from, until, zone] = /^(\d\d:\d\d)-(\d\d:\d\d)(?: (\S+))?$/.exec(text) ?? [];
  if (from === undefined || until === undefined) {
    throw usageError(`${text} are no quiet hours`, 'write them as "22:00-06:00" or "22:00-06:00 Europe/Berlin"');
  }
  return { quiet_from: from, quiet_until: until, ...(zone !== undefined && { quiet_timezone: zone }) };
}

async function list(context: CliContext, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const rules = await client.list(RULES, 'rules');
  if (options.json) {
    printJson(context, rules);
    return;
  }
  if (rules.length === 0) {
    context.stderr.write('There are no alert rules. "svc alerts add" makes one.\n');
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'RULE', value: (rule) => rule.name },
      { title: 'ON', value: (rule) => rule.events.join(', ') },
      { title: 'OF', value: matchText },
      { title: 'CHANNEL', value: (rule) => rule.channel },
      { title: 'CONNECTION', value: (rule) => rule.connection_id },
      { title: 'STATE', value: stateOf },
    ],
    rows: rules,
  });
}

const matchText = (rule: AlertRule): string =>
  [
    ...rule.dags,
    ...rule.tags.map((tag) => `tag ${tag}`),
    ...rule.owners.map((owner) => `owner ${owner}`),
    ...rule.tasks.map((task) => `task ${task}`),
  ].join(', ') || 'all';

function stateOf(rule: AlertRule): string {
  if (rule.failing_since !== null) return `fails since ${timeText(rule.failing_since)}: ${rule.last_error}`;
  if (rule.muted_until !== null && Date.parse(rule.muted_until) > Date.now()) {
    return `muted until ${timeText(rule.muted_until)}`;
  }
  return rule.last_sent_at === null ? 'nothing sent yet' : `last sent ${timeText(rule.last_sent_at)}`;
}

async function ruleNamed(client: Client, name: string): Promise<AlertRule> {
  const rule = (await client.list(RULES, 'rules')).find((one) => one.name === name);
  if (rule) return rule;
  throw new CliError(`there is no alert rule ${name}`, {
    exitCode: EXIT.notFound,
    hint: '"svc alerts list" shows the rules',
  });
}

const TIME = /^(\d{1,6})([mhd])$/;
const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

async function mute(context: CliContext, name: string, options: MuteOptions): Promise<void> {
  const [, number, unit = ''] = TIME.exec(options.for ?? '') ?? [];
  if (options.off !== true && number === undefined) {
    throw usageError('give --for with a time such as 30m, 8h or 2d, or --off');
  }
  const until = options.off ? null : new Date(Date.now() + Number(number) * (UNITS[unit] ?? 0)).toISOString();
  const client = await connect(context, options);
  const { id } = await ruleNamed(client, name);
  const rule = await client.post(`${RULES}/{rule_id}/mute`, { path: { rule_id: id }, body: { until } });
  if (options.json) printJson(context, rule);
  else context.stdout.write(until === null ? `${name} sends again.\n` : `Muted ${name} until ${timeText(until)}.\n`);
}

async function test(context: CliContext, name: string, options: ClientCommandOptions): Promise<void> {
  const client = await connect(context, options);
  const { id } = await ruleNamed(client, name);
  const result = await client.post(`${RULES}/{rule_id}/test`, { path: { rule_id: id } });
  if (options.json) printJson(context, result);
  else if (result.sent) context.stdout.write(`Sent: ${result.message}.\n`);
  if (!result.sent) throw new CliError(`the test message was not sent: ${result.message}`);
}

async function sent(context: CliContext, options: SentOptions): Promise<void> {
  const client = await connect(context, options);
  const { alerts } = await client.get('/api/v2/alerts', {
    query: { limit: options.limit, ...(options.open && { status: 'open' as const }) },
  });
  if (options.json) {
    printJson(context, alerts);
    return;
  }
  if (alerts.length === 0) {
    context.stderr.write('There are no such alerts.\n');
    return;
  }
  printTable(context.stdout, {
    columns: [
      { title: 'ALERT', value: (alert) => alert.id },
      { title: 'OPENED', value: (alert) => timeText(alert.opened_at) },
      { title: 'STATUS', value: statusOf },
      { title: 'RULE', value: (alert) => alert.rule },
      { title: 'FAILURES', value: (alert) => String(alert.failures), align: 'right' },
      { title: 'MESSAGE', value: (alert) => alert.sent_text?.split('\n')[0] ?? alert.last_error ?? 'not sent' },
    ],
    rows: alerts,
  });
}

const statusOf = (alert: Alert): string =>
  alert.status === 'open' && alert.acknowledged_by !== null ? `acknowledged by ${alert.acknowledged_by}` : alert.status;
