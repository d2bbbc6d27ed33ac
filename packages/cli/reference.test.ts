import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { SHELLS, renderCompletion } from './completion.ts';
import type { CliContext } from './context.ts';
import { buildProgram } from './program.ts';
import { renderCliReference } from './reference.ts';
import { subcommandsOf } from './svc-command.ts';
import type { SvcCommand } from './svc-command.ts';

const { stdin, stdout, stderr } = process;
const context: CliContext = { env: {}, stdin, stdout, stderr, configFlags: {} };
const program = buildProgram(context);

const pathsBelow = (command: SvcCommand, path: string): string[] =>
  subcommandsOf(command).flatMap((child) => [
    `${path} ${child.name()}`,
    ...pathsBelow(child, `${path} ${child.name()}`),
  ]);

/** What bash offers after these words. */
const offered = (...words: string[]): string[] => {
  const script = `${renderCompletion(program, 'bash')}
    COMP_WORDS=(svc ${words.map((word) => `'${word}'`).join(' ')}); COMP_CWORD=$((\${#COMP_WORDS[@]} - 1)); _svc; echo "\${COMPREPLY[@]}"`;
  return execFileSync('bash', ['-c', script], { encoding: 'utf8' }).trim().split(' ');
};

describe('the reference page', () => {
  it('has every command with a description and every option', () => {
    const page = renderCliReference();
    for (const path of pathsBelow(program, 'svc')) expect(page).toMatch(new RegExp(`^#+ ${path}\n\n\\w`, 'm'));
    expect(page).toContain('| `--password-stdin` |');
    expect(page).not.toMatch(/undefined|\[object/);
  });

  it('is the same at every run, so that a check can compare it', () => {
    expect(renderCliReference()).toBe(renderCliReference());
  });
});

describe('a completion script', () => {
  it('offers the commands and options that fit the words so far', () => {
    expect(offered('conn')).toEqual(['connections']);
    expect(offered('connections', '')).toContain('import');
    expect(offered('connections', 'set', 'my_db', '--conn')).toEqual(['--conn-type']);
    expect(offered('--version', 'auth', 'l')).toEqual(['login', 'logout']);
  });

  it.each(SHELLS)('for %s knows every command', (shell) => {
    const script = renderCompletion(program, shell);
    for (const path of pathsBelow(program, 'svc')) expect(script).toContain(path.split(' ').at(-1) ?? '');
  });
});
