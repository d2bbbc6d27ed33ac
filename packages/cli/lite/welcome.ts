import { padEnd, widthOf } from '../output/text.ts';

export type Welcome = {
  readonly version: string;
  readonly url: string;
  /** Undefined if every visitor is an administrator without a login. */
  readonly user: string | undefined;
  readonly password:
    | { readonly kind: 'new'; readonly value: string; readonly file: string }
    | { readonly kind: 'kept'; readonly file: string }
    | { readonly kind: 'configured'; readonly origin: string };
  readonly dataDirectory: string;
  /** The option with which later commands find the directory: ` --data-dir …`, or empty. */
  readonly dataDirectoryOption: string;
  readonly workspace: string | undefined;
};

/** What a person needs after the start. It is in a box if it fits into the columns of the terminal. */
export function renderWelcome(welcome: Welcome, columns: number | undefined): string {
  const { version, url, user, dataDirectory, dataDirectoryOption, workspace } = welcome;
  const facts: (readonly [string, string])[] = [
    ['URL', url],
    ...(user === undefined ? ([['Login', 'none needed (auth.dev_no_auth)']] as const) : loginFacts(welcome, user)),
    ['Data', dataDirectory],
    ...(workspace === undefined ? [] : ([['Workspace', workspace]] as const)),
  ];
  const steps = [
    ['Log in from here', `svc auth login --server ${url}${user === undefined ? '' : ` --username ${user}`}`],
    ['New password', `svc lite reset-password${dataDirectoryOption}`],
    ['Stop', 'Ctrl-C'],
  ] as const;
  const lines = [`svc ${version} is running`, '', ...aligned(facts), '', ...aligned(steps)];
  const boxed = box(lines);
  const fits = columns !== undefined && widthOf(boxed[0] ?? '') <= columns;
  return `\n${(fits ? boxed : lines).join('\n')}\n`;
}

function loginFacts({ password }: Welcome, user: string): (readonly [string, string])[] {
  switch (password.kind) {
    case 'new':
      return [
        ['User', user],
        ['Password', password.value],
        ['', `shown this once; also in ${password.file}`],
      ];
    case 'kept':
      return [
        ['User', user],
        ['Password', `as before (${password.file}, unless changed since)`],
      ];
    case 'configured':
      return [
        ['User', user],
        ['Password', `as configured (${password.origin})`],
      ];
  }
}

function aligned(pairs: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...pairs.map(([name]) => widthOf(name)));
  return pairs.map(([name, value]) => `${padEnd(name, width)}  ${value}`);
}

function box(lines: readonly string[]): string[] {
  const width = Math.max(...lines.map(widthOf));
  const rule = '─'.repeat(width + 2);
  return [`╭${rule}╮`, ...lines.map((line) => `│ ${padEnd(line, width)} │`), `╰${rule}╯`];
}
