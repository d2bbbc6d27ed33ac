import { readFileSync } from 'node:fs';

const manifest = JSON.parse(readFileSync(new URL('./package.json', import.meta.url), 'utf8')) as { version: string };

const HELP = `Usage: svc-agent [--version] [--help]

Runs task attempts for the svc control plane. The control plane starts it; people rarely do.
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
  process.stderr.write(`svc-agent: ${problem}: this version knows --version and --help only\n`);
  return 2;
}

process.exitCode = main(process.argv.slice(2));
