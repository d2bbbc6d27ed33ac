import { spawn } from 'node:child_process';
import { SourceError } from './git.ts';

const KEPT = 4_000;

/** Runs a program of the system to its end. Rejects with a SourceError that has what it said. */
export function runProgram(
  program: string,
  args: readonly string[],
  as?: { uid: number; gid: number } | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'], ...as });
    let errors = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-KEPT)));
    child.once('error', (error) => reject(new SourceError(`${program} could not be started: ${error.message}`)));
    child.once('close', (code) => {
      if (code === 0) resolve();
      else reject(new SourceError(`${program} failed: ${errors.trim().split('\n').at(-1) ?? `exit code ${code}`}`));
    });
  });
}
