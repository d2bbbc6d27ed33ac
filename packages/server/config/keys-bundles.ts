import type { KeyDefinition } from './key-definition.ts';

const MIB = 1024 * 1024;

export const BUNDLES_KEYS = {
  'bundles.executor': {
    type: 'enum',
    values: ['auto', 'local', 'none'],
    default: 'auto',
    extension: true,
    edition: 'both',
    doc: 'Where bundles are fetched and compiled: `local` in a process of its own next to each scheduler, which needs `git` and Python there; `none` nowhere; `auto` is `local` when `executor.type` names subprocess (docs/bundles.md).',
  },
  'bundles.cache_dir': {
    type: 'string',
    default: '',
    pattern: /^\//,
    allowed: 'an absolute path',
    defaultDoc: 'empty (`svc/bundles` in the cache of the user)',
    extension: true,
    edition: 'both',
    doc: 'Where repositories and the files of deployments are kept; it may be removed, and is then fetched again.',
  },
  'bundles.allowed_paths': {
    type: 'list',
    default: [],
    pattern: /^\//,
    allowed: 'absolute paths',
    fromEnvironment: true,
    extension: true,
    edition: 'both',
    doc: 'Folders of the host below which a bundle may name a folder, or a repository by its path. Every user who may write DAGs can read what is in them.',
  },
  'bundles.sync_timeout': {
    type: 'duration',
    default: '10m',
    min: 1_000,
    extension: true,
    edition: 'both',
    doc: 'How long one sync of a bundle may take: fetching, compiling, making environments.',
  },
  'bundles.max_bytes': {
    type: 'int',
    default: 512 * MIB,
    min: MIB,
    extension: true,
    edition: 'both',
    doc: 'Bytes of all files of one commit, and of one fetch; a larger commit is refused.',
  },
  'bundles.max_file_bytes': {
    type: 'int',
    default: 20 * MIB,
    min: 1024,
    extension: true,
    edition: 'both',
    doc: 'Bytes of one file of a commit; a commit with a larger one is refused.',
  },
  'bundles.max_files': {
    type: 'int',
    default: 20_000,
    min: 1,
    extension: true,
    edition: 'both',
    doc: 'Files of one commit; a commit with more is refused.',
  },
  'bundles.max_memory_bytes': {
    type: 'int',
    default: 1024 * MIB,
    min: 256 * MIB,
    extension: true,
    edition: 'both',
    doc: 'Memory that git, and the process that runs a sync, may use.',
  },
} as const satisfies Record<string, KeyDefinition>;
