/** Commands about the program itself. */
import { Argument } from 'commander';
import { printJson } from '../context.ts';
import type { CliContext } from '../context.ts';
import { SHELLS, renderCompletion } from '../completion.ts';
import type { Shell } from '../completion.ts';
import type { SvcCommand } from '../svc-command.ts';
import { VERSION } from '../version.ts';

export function addInformationCommands(program: SvcCommand, context: CliContext): void {
  program
    .command('version')
    .description('Print the version')
    .option('--json', 'print JSON')
    .action(async (options: { json?: true }) => {
      if (!options.json) {
        context.stdout.write(`${VERSION}\n`);
        return;
      }
      const { gitVersion } = await import('@svc/server/version.ts');
      printJson(context, { version: VERSION, git_version: gitVersion(), node: process.versions.node });
    });

  program
    .command('openapi')
    .description('Print the OpenAPI document of the HTTP API; needs no running control plane')
    .example('keep it', 'svc openapi > openapi.json')
    .action(async () => {
      const { renderOpenApi } = await import('@svc/server/openapi-document.ts');
      context.stdout.write(await renderOpenApi());
    });

  program
    .command('completion')
    .description('Print a completion script for your shell')
    .addArgument(new Argument('<shell>', 'your shell').choices(SHELLS))
    .example('bash, in ~/.bashrc', 'source <(svc completion bash)')
    .example('zsh, in ~/.zshrc after compinit', 'source <(svc completion zsh)')
    .example('fish', 'svc completion fish > ~/.config/fish/completions/svc.fish')
    .action((shell: Shell) => {
      context.stdout.write(renderCompletion(program, shell));
    });
}
