/** Parses flags and environment. A flag overrides its variable, and a variable overrides the default. */
import { isIP, isIPv6 } from 'node:net';
import { parseArgs } from 'node:util';

export type Options = {
  /** The origin, and a path if there is one, without a final slash. */
  server: string;
} & ({ transport: 'stdio'; token: string | undefined } | { transport: 'http'; listen: ListenAddress });

export type ListenAddress = {
  /** Undefined means every interface. */
  host: string | undefined;
  port: number;
  /** The text as given. */
  text: string;
};

export type Command = { kind: 'run'; options: Options } | { kind: 'version' } | { kind: 'help' };

/** The command line or a variable is wrong (exit code 2). */
export class UsageError extends Error {}

const DEFAULTS = { server: 'http://127.0.0.1:8080', transport: 'stdio', listen: ':9099' } as const;
/** The syntax of RFC 6750. */
export const BEARER_TOKEN = /^[\w.~+/-]+=*$/;

export function parseCommand(argv: readonly string[], env: NodeJS.ProcessEnv): Command {
  const flags = parseFlags(argv);
  if (flags.version) return { kind: 'version' };
  if (flags.help) return { kind: 'help' };
  const setting = (flag: 'server' | 'transport' | 'listen', variable: string): { text: string; from: string } => {
    if (flags[flag] !== undefined) return { text: flags[flag], from: `--${flag}` };
    return env[variable] ? { text: env[variable], from: variable } : { text: DEFAULTS[flag], from: 'the default' };
  };
  const server = parseServer(setting('server', 'SVC_SERVER_URL'));
  const transport = setting('transport', 'SVC_MCP_TRANSPORT');
  switch (transport.text) {
    case 'stdio':
      return { kind: 'run', options: { server, transport: 'stdio', token: parseToken(env['SVC_TOKEN']) } };
    case 'http':
      // SVC_TOKEN is ignored, because every HTTP request has its own token.
      return {
        kind: 'run',
        options: { server, transport: 'http', listen: parseListen(setting('listen', 'SVC_MCP_LISTEN')) },
      };
    default:
      throw new UsageError(`${transport.from} is ${JSON.stringify(transport.text)}: give stdio or http`);
  }
}

function parseFlags(argv: readonly string[]) {
  try {
    return parseArgs({
      args: [...argv],
      strict: true,
      options: {
        server: { type: 'string' },
        transport: { type: 'string' },
        listen: { type: 'string' },
        version: { type: 'boolean', short: 'V' },
        help: { type: 'boolean', short: 'h' },
      },
    }).values;
  } catch (error) {
    const message = error instanceof Error ? error.message.split('. ')[0] : String(error);
    throw new UsageError(`${message}: svc-mcp --help lists what there is`);
  }
}

function parseServer({ text, from }: { text: string; from: string }): string {
  const url = URL.parse(text);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new UsageError(`${from} is ${JSON.stringify(text)}: give a URL such as ${DEFAULTS.server}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new UsageError(`${from} carries a password: the token goes into SVC_TOKEN, or into each request over HTTP`);
  }
  return `${url.origin}${url.pathname.replace(/\/+$/, '')}`;
}

/** The value is a secret, so no message may contain it. */
function parseToken(text: string | undefined): string | undefined {
  const token = text?.trim() ?? '';
  if (token === '') return undefined;
  if (!BEARER_TOKEN.test(token)) {
    throw new UsageError(
      'SVC_TOKEN is not a bearer token: get one with "svc auth create-token" and set it without quotes',
    );
  }
  return token;
}

const LISTEN = /^(?:\[(?<v6>[^\]]+)\]|(?<name>[A-Za-z0-9._-]*)):(?<port>\d{1,5})$/;

function parseListen({ text, from }: { text: string; from: string }): ListenAddress {
  const { v6, name, port } = LISTEN.exec(text.trim())?.groups ?? {};
  const host = v6 ?? name;
  const isHost = v6 !== undefined ? isIPv6(v6) : !/^[\d.]+$/.test(name ?? '') || isIP(name ?? '') === 4;
  if (port === undefined || Number(port) > 65_535 || !isHost) {
    throw new UsageError(
      `${from} is ${JSON.stringify(text)}: give host:port, or :port for every interface, such as ${DEFAULTS.listen}`,
    );
  }
  return { host: host === '' ? undefined : host, port: Number(port), text: text.trim() };
}

export const HELP = `Usage: svc-mcp [options]

Read-only tool server: shows a svc control plane to language-model agents over the Model Context Protocol.

Options:
  --server <url>           the control plane (SVC_SERVER_URL; default ${DEFAULTS.server}; svc lite: http://127.0.0.1:8088)
  --transport <name>       stdio or http (SVC_MCP_TRANSPORT; default ${DEFAULTS.transport})
  --listen <address>       where http listens (SVC_MCP_LISTEN; default ${DEFAULTS.listen})
  -V, --version            print the version
  -h, --help               print this

stdio: the token of the user is read once from SVC_TOKEN.
http:  every request to POST /mcp brings its own, as Authorization: Bearer <token>; SVC_TOKEN is ignored.
A token comes from: svc auth create-token --server <url> --username <email>
`;
