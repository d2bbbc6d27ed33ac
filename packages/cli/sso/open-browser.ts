import { spawn } from 'node:child_process';
import type { Environment } from '../context.ts';

/** Best effort: the address is printed, too. BROWSER wins, as elsewhere. */
export function openBrowser(env: Environment, url: string): void {
  const [program = '', ...args] = commandOf(env);
  const child = spawn(program, [...args, url], { stdio: 'ignore', detached: true, env: { ...env } });
  child.on('error', () => {}); // none here: the person has the address
  child.unref();
}

function commandOf(env: Environment): string[] {
  if (env['BROWSER']) return [env['BROWSER']];
  if (process.platform === 'darwin') return ['open'];
  // Not `start`, which is a shell's: the address has characters that a shell would read.
  if (process.platform === 'win32') return ['rundll32', 'url.dll,FileProtocolHandler'];
  return ['xdg-open'];
}
