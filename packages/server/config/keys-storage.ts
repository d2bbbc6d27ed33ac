import type { KeyDefinition } from './key-definition.ts';

export const LOGS_KEYS = {
  'logs.dir': {
    type: 'string',
    default: '/var/log/svc',
    edition: 'both',
    doc: 'Directory of task logs for the disk backend.',
  },
  'logs.backend': {
    type: 'enum',
    values: ['disk', 'objstore', 'cloudstore'],
    default: 'disk',
    edition: 'pro',
    doc: 'Durable log store: `disk` (the only one of the lite edition), `objstore` (S3-compatible) or `cloudstore` (native cloud object store).',
  },
  'logs.retention': {
    type: 'duration',
    default: '0',
    extension: true,
    edition: 'both',
    doc: 'Age after which task logs are deleted; 0 keeps them.',
  },
  'logs.spool_bytes': {
    type: 'int',
    default: 2_147_483_648,
    min: 1,
    max: 1_099_511_627_776,
    extension: true,
    edition: 'pro',
    doc: '`objstore` and `cloudstore`: how many bytes of acknowledged lines the database keeps until they are in the store. Beyond it agents keep theirs.',
  },
  'logs.sink.bucket': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Target bucket; required for `objstore` and `cloudstore`.',
  },
  'logs.sink.prefix': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: 'Optional key prefix; objects lie at `{prefix}/{tenant}/{dag}/{run}/{task}/{try}.log`.',
  },
  'logs.sink.region': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: '`objstore` only: region, required by some stores and ignored by others.',
  },
  'logs.sink.endpoint': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: '`objstore` only: endpoint of a compatible store; empty uses the provider default.',
  },
  'logs.sink.force_path_style': {
    type: 'bool',
    default: false,
    edition: 'pro',
    doc: '`objstore` only: bucket in the path, required by some compatible stores.',
  },
  'logs.sink.access_key_id': {
    type: 'secret',
    default: '',
    edition: 'pro',
    doc: '`objstore` only: static credential, discouraged; empty uses the keyless identity chain.',
  },
  'logs.sink.secret_access_key': {
    type: 'secret',
    default: '',
    edition: 'pro',
    doc: '`objstore` only: static credential, discouraged; empty uses the keyless identity chain.',
  },
  'logs.sink.credentials_file': {
    type: 'string',
    default: '',
    edition: 'pro',
    doc: '`cloudstore` only: path of a service-account key file, discouraged; empty uses application default credentials.',
  },
} as const satisfies Record<string, KeyDefinition>;

export const SECRETS_KEYS = {
  'secrets.backend': {
    type: 'string',
    default: '',
    pattern: /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)+$/,
    allowed: 'the path of a class, such as airflow.providers.amazon.aws.secrets.secrets_manager.SecretsManagerBackend',
    defaultDoc: 'empty (disabled)',
    edition: 'pro (orchestrator)',
    doc: 'Provider secrets-backend class the in-pod resolver drives under the keyless identity of the pod; empty leaves the built-in vault as the only source.',
  },
  'secrets.backend_kwargs': {
    type: 'json',
    default: '',
    defaultDoc: 'empty (treated as `{}`)',
    edition: 'pro (orchestrator)',
    doc: 'Keyword arguments of that class as a JSON object, delivered verbatim; a kind is served only if its `*_prefix` argument is present.',
  },
} as const satisfies Record<string, KeyDefinition>;

/** A decimal number that is not negative. */
export const PRICE = /^\d+(\.\d+)?$/;
const PRICE_FORM = 'a number such as 0.031, without a currency';

export const COST_KEYS = {
  'cost.cpu_hour': {
    type: 'string',
    default: '',
    pattern: PRICE,
    allowed: PRICE_FORM,
    edition: 'both',
    extension: true,
    defaultDoc: 'empty (no price)',
    doc: 'Price of a processor for an hour. While neither this key nor `cost.gib_hour` is set, usage is shown without money.',
  },
  'cost.gib_hour': {
    type: 'string',
    default: '',
    pattern: PRICE,
    allowed: PRICE_FORM,
    edition: 'both',
    extension: true,
    defaultDoc: 'empty (no price)',
    doc: 'Price of a GiB of memory for an hour.',
  },
  'cost.queue_cpu_hour': {
    type: 'map',
    default: {},
    edition: 'both',
    extension: true,
    doc: 'Other prices of a processor for an hour, by queue.',
  },
  'cost.queue_gib_hour': {
    type: 'map',
    default: {},
    edition: 'both',
    extension: true,
    doc: 'Other prices of a GiB for an hour, by queue.',
  },
  'cost.currency': {
    type: 'string',
    default: 'USD',
    pattern: /^[A-Za-z]{1,10}$/,
    allowed: 'up to ten letters, such as EUR',
    edition: 'both',
    extension: true,
    doc: 'Currency of these prices. It is only shown.',
  },
} as const satisfies Record<string, KeyDefinition>;
