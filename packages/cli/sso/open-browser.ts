import { spawn } from 'node:child_process';
import type { Environment } from '../context.ts';

/**
 * Tries to open a browser. The address is printed as well, so a failure is harmless. BROWSER takes precedence, as in
 * other tools.
 */
export function openBrowser(env: Environment, url: string): void {
  const [program = '', ...args] = commandOf(env);
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, env: { ...env } });
  child.on('error', () => {}); // no browser: the person has the address
  child.unref();
}

function commandOf(env: Environment): string[] {
  if (env['BROWSER']) return [env['BROWSER']];
  if (process.platform === 'darwin') return ['open'];
  // `start` would run in a shell, which would interpret characters of the address.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}
