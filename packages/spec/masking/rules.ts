/**
 * The masking rules that all programs share, as data: which values to search for, what tokens look like, and which
 * settings only sound like secrets. `npm run docs` makes the Python copy from this file.
 */
import { RUN_STATES, RUN_TYPES, TASK_STATES } from '../states.ts';
import { TRIGGER_RULES } from '../trigger-rules.ts';

export const MASK = '***';

/**
 * A shorter value, or one of `COMMON_WORDS`, is not searched for in text. Masking it would hide half of what people
 * read, and it protects nothing, because it can be guessed. Under a sensitive name it is masked anyway.
 */
export const MIN_VALUE_LENGTH = 4;
/** Shorter numbers are ports, years and counts. */
export const MIN_DIGITS = 6;
/**
 * Each line of a value with several lines (a PEM body) is also a secret, because readers print such text line by line.
 */
export const MIN_LINE_LENGTH = 8;

/** Words in lower case: those of our own messages, and those that people use as placeholders. */
export const COMMON_WORDS: readonly string[] = [
  ...new Set([
    ...TASK_STATES,
    ...RUN_STATES,
    ...RUN_TYPES,
    ...Object.keys(TRIGGER_RULES),
    ...words('dataset_triggered true false none null undefined enabled disabled default empty unknown'),
    ...words('debug info warning error critical exception fatal trace'),
    ...words('admin administrator root user users username guest public anonymous viewer operator editor owner'),
    ...words('airflow postgres postgresql mysql redis sqlite http https python bash utf-8 json string object array'),
    ...words(
      'localhost local host prod production staging stage test testing tests demo example main master temp xxxx',
    ),
    ...words('data database server client worker agent task tasks dags'),
    ...words('password passwd secret secrets token login value name extra text basic bearer oauth oauth2'),
  ]),
].sort();

function words(text: string): string[] {
  return text.split(' ');
}

const COMMON = new Set(COMMON_WORDS);

/** True if a secret value is searched for in text. */
export function isMaskable(value: string): boolean {
  const text = value.trim();
  if (text.length < MIN_VALUE_LENGTH || text === MASK) return false;
  // `Admin` and `ADMIN` are words like `admin`, but a password in mixed case is not.
  if (COMMON.has(text.toLowerCase()) && /^(?:[A-Z]?[^A-Z]*|[^a-z]*)$/.test(text)) return false;
  return text.length >= MIN_DIGITS || !/^[0-9]+$/.test(text);
}

/**
 * Credentials with a known prefix: a text that they all contain, and a pattern. Patterns use ASCII letters only. Each
 * is a fixed prefix and one run of characters, so that a text is scanned only once.
 */
export const TOKEN_SHAPES: readonly (readonly [hint: string, pattern: string])[] = [
  ['AKIA', String.raw`\bAKIA[0-9A-Z]{16}\b`], // AWS
  ['ASIA', String.raw`\bASIA[0-9A-Z]{16}\b`],
  ['gh', String.raw`\bgh[oprsu]_[0-9A-Za-z]{20,}`], // GitHub
  ['github_pat_', String.raw`\bgithub_pat_\w{20,}`],
  ['glpat-', String.raw`\bglpat-[\w-]{16,}`], // GitLab
  ['xox', String.raw`\bxox[abeoprs]-[0-9A-Za-z-]{10,}`], // Slack
  ['xapp-', String.raw`\bxapp-[0-9A-Za-z-]{10,}`],
  ['hooks.slack.com/', String.raw`(?<=hooks\.slack\.com/services/)[\w/]{16,}`],
  ['AIza', String.raw`\bAIza[\w-]{35}`], // Google
  ['ya29.', String.raw`\bya29\.[\w.-]{20,}`],
  ['GOCSPX-', String.raw`\bGOCSPX-[\w-]{20,}`],
  ['k_', String.raw`\b[rs]k_(?:live|test)_[0-9A-Za-z]{16,}`], // Stripe
  ['sk-', String.raw`\bsk-[\w-]{20,}`], // language models
  ['SG.', String.raw`\bSG\.[\w-]{16,64}\.[\w-]{16,}`], // SendGrid
  ['dapi', String.raw`\bdapi[0-9a-f]{32}\b`], // Databricks
  ['hf_', String.raw`\bhf_[0-9A-Za-z]{30,}`], // Hugging Face
  ['npm_', String.raw`\bnpm_[0-9A-Za-z]{36}\b`],
  ['pypi-', String.raw`\bpypi-[\w-]{40,}`],
  ['svc_sa_', String.raw`\bsvc_sa_[0-9A-Za-z]{20,}`], // our own service accounts
  ['svc_wt_', String.raw`\bsvc_wt_[0-9A-Za-z]{20,}`], // tokens of workers
];

/**
 * Settings that sound like secrets but have public values. Messages must show `auth.secret_scoping=enforce`. They are
 * open in every spelling (`SVC_AUTH_SECRET_SCOPING=`, `--auth.secret-scoping=`).
 */
export const OPEN_SETTINGS: readonly string[] = [
  'auth.agent_token_transport',
  'auth.jwt.token_ttl_seconds',
  'auth.max_attempt_credential_lifetime',
  'auth.secret_liveness_mode',
  'auth.secret_scoping',
  'executor.pod_override_secrets',
  'executor.task_secret_mount_path',
  'executor.task_secret_name',
  'executor.task_service_account',
  'logs.sink.credentials_file',
  'secrets.backend',
];

const plainName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[.-]/g, '_')
    .replace(/^_*(?:svc_)?/, '');

const OPEN = new Set(OPEN_SETTINGS.map(plainName));

export const isOpenSetting = (name: string): boolean => OPEN.has(plainName(name));

const list = (items: readonly string[]): string => items.map((item) => `        ${JSON.stringify(item)},\n`).join('');

/** Renders the same data for Python. */
export function renderPythonMaskingRules(): string {
  const shapes = TOKEN_SHAPES.map(([hint, pattern]) => `    (${JSON.stringify(hint)}, r"${pattern}"),\n`).join('');
  return `"""What is masked. Generated by \`npm run docs\` from packages/spec/masking/rules.ts. Do not edit."""

from __future__ import annotations

MIN_VALUE_LENGTH = ${MIN_VALUE_LENGTH}
MIN_DIGITS = ${MIN_DIGITS}
MIN_LINE_LENGTH = ${MIN_LINE_LENGTH}

COMMON_WORDS = frozenset(
    (
${list(COMMON_WORDS)}    )
)

OPEN_SETTINGS = frozenset(
    (
${list([...OPEN].sort())}    )
)

TOKEN_SHAPES = (
${shapes})
`;
}
