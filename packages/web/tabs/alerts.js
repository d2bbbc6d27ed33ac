// The page Alerts: rules with their channels, what was alerted, and the buttons to mute and to acknowledge.
/** @import { Alert, Rule } from './answers.d.ts' */
import { element } from '../editor/dom.js';
import { actionButton, announce, call, dagPath, keepShowing, uiLink } from './frame.js';
import { chip, counted, lines, quiet, section, table, time } from './parts.js';

const PAUSE_MS = 10_000;
const RULES_SHOWN = 100;
const ALERTS_SHOWN = 50;
/** @type {[string, number][]} */
const MUTES = [
  ['1 hour', 1],
  ['4 hours', 4],
  ['1 day', 24],
  ['1 week', 168],
];
const HOUR_MS = 3_600_000;

/** @type {{ status: '' | 'open' | 'over' }} */
const shown = { status: '' };

/** @param {Rule} rule */
function scopeOf({ dags, tags, owners, tasks }) {
  /** @type {[string, string[]][]} */
  const parts = [
    ['DAGs', dags],
    ['tags', tags],
    ['owners', owners],
    ['tasks', tasks],
  ];
  const text = parts.filter(([, globs]) => globs.length > 0).map(([name, globs]) => `${name} ${globs.join(', ')}`);
  return text.length === 0 ? 'everything' : text.join('; ');
}

/** @param {Rule} rule */
function channelOf({ channel, target, connection_id: connection, failing_since: since, last_error: error }) {
  const name = `${channel}${target === '' ? '' : ` ${target}`} by ${connection}`;
  return element(
    'span',
    {},
    name,
    ...(since === null ? [] : [element('div', { className: 'bad' }, `fails since `, time(since), `: ${error ?? ''}`)]),
  );
}

/** @param {Rule} rule */
function muteControl({ id, name, muted_until: until }) {
  const isMuted = until !== null && Date.parse(until) > Date.now();
  /** @param {string | null} moment */
  const mute = (moment) => call('POST', `api/v2/alerts/rules/${id}/mute`, { until: moment });
  const key = `mute ${id}`;
  if (isMuted) {
    const unmute = async () => {
      await mute(null);
      announce(`${name} sends messages again.`);
      await now();
    };
    const button = actionButton('Unmute', unmute, { label: `Unmute ${name}`, key });
    return element('span', { className: 'row' }, 'muted, ends ', time(until), button);
  }
  const choice = element(
    'select',
    { 'aria-label': `How long to mute ${name}`, dataset: { key: `hours ${id}` } },
    ...MUTES.map(([text, hours]) => element('option', { value: String(hours), textContent: text })),
  );
  const muteFor = async () => {
    await mute(new Date(Date.now() + Number(choice.value) * HOUR_MS).toISOString());
    announce(`${name} is muted. Its alerts are recorded and not sent.`);
    await now();
  };
  const button = actionButton('Mute', muteFor, { label: `Mute ${name}`, key });
  return element('span', { className: 'row' }, choice, button);
}

/** @param {readonly Rule[]} rules @param {number} total */
function rulesSection(rules, total) {
  if (total === 0) {
    return section(
      'Rules',
      quiet('There is no rule, so no alert is sent. To create one for all failures:'),
      lines(
        [
          'svc connections add slack --conn-type slackwebhook --password https://hooks.slack.com/services/…',
          'svc alerts add failures --channel slack_webhook --connection slack',
        ],
        'Commands',
      ),
    );
  }
  const rows = rules.map((rule) => [
    element('strong', { textContent: rule.name }),
    rule.events.map((event) => event.replaceAll('_', ' ')).join(', '),
    scopeOf(rule),
    channelOf(rule),
    rule.quiet_from === null ? '' : `${rule.quiet_from} to ${rule.quiet_until} ${rule.quiet_timezone ?? 'UTC'}`,
    time(rule.last_sent_at, 'never'),
    muteControl(rule),
  ]);
  return section(
    'Rules',
    table('Rules', ['Rule', 'Events', 'For', 'Channel', 'Quiet hours', 'Last message', 'Mute'], rows),
    total > rules.length ? quiet(`${rules.length} of ${total} rules are shown. "svc alerts list" has all.`) : undefined,
  );
}

/** @param {Alert} alert */
function acknowledgement({ id, status, acknowledged_at: at, acknowledged_by: by }) {
  if (at !== null) return element('span', {}, `${by ?? ''} `, time(at));
  if (status === 'over') return '';
  const acknowledge = async () => {
    await call('POST', `api/v2/alerts/${id}/acknowledge`, {});
    announce('Acknowledged. The alert sends only its end.');
    await now();
  };
  return actionButton('Acknowledge', acknowledge, { key: `acknowledge ${id}` });
}

/** @param {Alert} alert */
function messageOf(alert) {
  const { id, sent_text: text, last_error: error, due_at: due, event, dag_id: dagId, task_id: taskId } = alert;
  const place = [taskId, dagId].filter((part) => part !== '').join(' of ');
  const title = text?.split('\n', 1)[0] ?? `${event.replaceAll('_', ' ')}: ${place}`;
  const state = text !== null ? '' : due === null ? 'Not sent: the rule was muted' : 'Not sent yet';
  return element(
    'div',
    {},
    text === null
      ? element('div', { textContent: title })
      : element(
          'details',
          { dataset: { key: `message ${id}` } },
          element('summary', { textContent: title }),
          lines(text.split('\n').slice(1), 'Message'),
        ),
    error === null ? quiet(state) : element('div', { className: 'bad', textContent: `Could not be sent: ${error}` }),
  );
}

/** @param {readonly Alert[]} alerts @param {number} total */
function alertsSection(alerts, total) {
  /** @type {['' | 'open' | 'over', string][]} */
  const choices = [
    ['', 'All'],
    ['open', 'Open'],
    ['over', 'Over'],
  ];
  const filter = element(
    'div',
    { className: 'row', role: 'group', 'aria-label': 'Which alerts' },
    ...choices.map(([status, text]) =>
      element('button', {
        type: 'button',
        textContent: text,
        'aria-pressed': String(shown.status === status),
        dataset: { key: `filter ${status}` },
        onclick: () => {
          shown.status = status;
          void now();
        },
      }),
    ),
  );
  const rows = alerts.map((alert) => [
    chip(alert.status),
    messageOf(alert),
    alert.dag_id === '' || alert.event === 'broken_file'
      ? alert.dag_id
      : uiLink(dagPath(alert.dag_id), alert.dag_id, `dag ${alert.id}`),
    alert.rule,
    String(alert.failures),
    time(alert.opened_at),
    time(alert.last_at),
    acknowledgement(alert),
  ]);
  return section(
    'What was sent',
    filter,
    alerts.length === 0
      ? quiet('There is no such alert.')
      : table('Alerts', ['State', 'Message', 'DAG', 'Rule', 'Failures', 'Since', 'Last', 'Acknowledged'], rows),
    total > alerts.length ? quiet(`The newest ${alerts.length} of ${total} are shown.`) : undefined,
  );
}

async function look() {
  const status = shown.status === '' ? '' : `&status=${shown.status}`;
  /** @type {[{ rules: Rule[], total_entries: number }, { alerts: Alert[], total_entries: number }]} */
  const [{ rules, total_entries: ruleCount }, { alerts, total_entries: alertCount }] = await Promise.all([
    call('GET', `api/v2/alerts/rules?limit=${RULES_SHOWN}`),
    call('GET', `api/v2/alerts?limit=${ALERTS_SHOWN}${status}`),
  ]);
  const failing = rules.filter(({ failing_since: since }) => since !== null).length;
  const parts = [
    element('h1', { textContent: 'Alerts' }),
    failing > 0
      ? element('p', { className: 'bad', textContent: `${counted(failing, 'channel does', 'channels do')} not work.` })
      : undefined,
    alertsSection(alerts, alertCount),
    rulesSection(rules, ruleCount),
  ];
  return { parts, pauseMs: PAUSE_MS };
}

const now = keepShowing(look);
