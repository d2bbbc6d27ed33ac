import { Command } from 'commander';

export type Example = { readonly command: string; readonly meaning: string };

/** A commander command with its examples as data, so that the help text and docs/cli.md show the same ones. */
export class SvcCommand extends Command {
  readonly examples: Example[] = [];
  /** Paragraphs below the option list. */
  readonly notes: string[] = [];

  override createCommand(name?: string): SvcCommand {
    return new SvcCommand(name);
  }

  example(meaning: string, command: string): this {
    this.examples.push({ command, meaning });
    return this;
  }

  note(text: string): this {
    this.notes.push(text);
    return this;
  }

  override helpInformation(context?: { error: boolean }): string {
    const notes = this.notes.map((note) => `\n${note}\n`).join('');
    const lines = this.examples.map(({ command, meaning }) => `  # ${meaning}\n  ${command}`);
    const examples = lines.length === 0 ? '' : `\nExamples:\n${lines.join('\n')}\n`;
    return super.helpInformation(context) + notes + examples;
  }
}

export function subcommandsOf(command: SvcCommand): readonly SvcCommand[] {
  return command.commands.filter((child): child is SvcCommand => child instanceof SvcCommand);
}
