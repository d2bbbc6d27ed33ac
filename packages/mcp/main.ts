import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

const HELP = `Usage: svc-mcp [--version] [--help]

Read-only tool server: shows a svc control plane to language-model agents over the Model Context Protocol.
`;

function main(argv: readonly string[]): number {
  if (argv.includes('--version') || argv.includes('-V')) {
    process.stdout.write(`${manifest.version}\n`);
    return 0;
  }
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(HELP);
    return 0;
  }
  const [first] = argv;
  const problem = first === undefined ? 'nothing to do' : `unknown argument ${JSON.stringify(first)}`;
  process.stderr.write(`svc-mcp: ${problem}: this version knows --version and --help only\n`);
  return 2;
}

process.exitCode = main(process.argv.slice(2));
