import { expect, it } from 'vitest';
import { UsageError, parseCommand } from './options.ts';

const run = (argv: string[], env: NodeJS.ProcessEnv = {}) => {
  const command = parseCommand(argv, env);
  if (command.kind !== 'run') throw new Error(command.kind);
  return command.options;
};
const refusal = (argv: string[], env: NodeJS.ProcessEnv = {}): string => {
  try {
    parseCommand(argv, env);
  } catch (error) {
    if (error instanceof UsageError) return error.message;
    throw error;
  }
  throw new Error('accepted');
};

it('has the documented defaults', () => {
  expect(run([])).toEqual({ server: 'http://127.0.0.1:8080', transport: 'stdio', token: undefined });
  expect(run(['--transport', 'http'])).toEqual({
    server: 'http://127.0.0.1:8080',
    transport: 'http',
    listen: { host: undefined, port: 9_099, text: ':9099' },
  });
});

it('a flag wins over its variable, and an empty variable is none', () => {
  const env = { SVC_SERVER_URL: 'http://a:1', SVC_MCP_TRANSPORT: 'http', SVC_MCP_LISTEN: '127.0.0.1:7' };
  expect(run([], env)).toMatchObject({
    server: 'http://a:1',
    transport: 'http',
    listen: { host: '127.0.0.1', port: 7 },
  });
  expect(run(['--server=https://b/x/', '--listen', '[::1]:8'], env)).toMatchObject({
    server: 'https://b/x',
    listen: { host: '::1', port: 8 },
  });
  expect(run([], { SVC_SERVER_URL: '', SVC_MCP_TRANSPORT: '' })).toMatchObject({ transport: 'stdio' });
});

it('SVC_TOKEN is for stdio alone: over http it cannot even be a fallback by mistake', () => {
  expect(run([], { SVC_TOKEN: ' abc.def\n' })).toMatchObject({ token: 'abc.def' });
  expect(JSON.stringify(run(['--transport', 'http'], { SVC_TOKEN: 'abc.def' }))).not.toContain('abc.def');
  expect(run(['--transport', 'http'], { SVC_TOKEN: 'not a token' })).toMatchObject({ transport: 'http' });
});

it('--version and --help win over everything else', () => {
  expect(parseCommand(['--version', '--transport', 'x'], {})).toEqual({ kind: 'version' });
  expect(parseCommand(['-h'], {})).toEqual({ kind: 'help' });
});

it('refusals name what is wrong and what is right', () => {
  expect(refusal(['--transport', 'sse'])).toBe('--transport is "sse": give stdio or http');
  expect(refusal([], { SVC_MCP_TRANSPORT: 'tcp' })).toContain('SVC_MCP_TRANSPORT is "tcp"');
  expect(refusal(['--server', 'localhost:8080'])).toContain('give a URL such as http://127.0.0.1:8080');
  expect(refusal(['--server', 'http://me:secret@x'])).toBe(
    '--server carries a password: the token goes into SVC_TOKEN, or into each request over HTTP',
  );
  for (const listen of ['9099', ':99999', '1.2.3:1', 'a b:1', '[x]:1', 'http://x:1']) {
    expect(refusal(['--transport', 'http', '--listen', listen])).toContain('give host:port');
  }
  expect(refusal(['--sever', 'x'])).toContain("Unknown option '--sever'");
  expect(refusal([], { SVC_TOKEN: 'two words' })).not.toContain('two words');
});
