/** What a test file may leave behind in the process that it shares with those after it. */

/** Those that keep this process from ending; what only watches over it does not. */
const children = (): number => process.getActiveResourcesInfo().filter((name) => name === 'ProcessWrap').length;

/** To be called before the file. */
export function lookAround(): { restoreEnvironment(): void; problems(): string[] } {
  const env = { ...process.env };
  const directory = process.cwd();
  const childrenBefore = children();
  return {
    restoreEnvironment() {
      for (const name of Object.keys(process.env)) if (!(name in env)) delete process.env[name];
      Object.assign(process.env, env);
    },
    problems: () => [
      ...(process.cwd() === directory ? [] : [`this file changed the directory to ${process.cwd()}`]),
      ...(children() <= childrenBefore ? [] : [`this file left ${children() - childrenBefore} processes running`]),
    ],
  };
}
