/**
 * A compiler whose files may need packages: one process per interpreter, started when a file wants it and ended when none
 * has for a while. A file without dependencies is compiled by the first, which stays.
 *
 * An environment may lack packages that could not be built: only files that import them are refused.
 *
 * An environment that cannot be made is the answer to its files, as an error of theirs would be. Where tasks run elsewhere
 * (an image is built with an index of its own), a file that loads without its packages is compiled, with a warning.
 *
 * Each answer names the provider packages of its environment. A file without dependencies whose tasks run elsewhere gets none
 * named: the interpreter of this machine says nothing about theirs.
 */
import type { ReportedProvider } from '@svc/spec/installed-providers.ts';
import { ENVIRONMENT_ERROR } from './compiler.ts';
import type { CompileAnswer, Compiler } from './compiler.ts';
import { packageOf } from './outside-packages.ts';
import { normalName, partsOf } from './repository/requirement-line.ts';

/** A package that could not be built: `entry` as it was asked for. */
export type LeftOut = { readonly entry: string; readonly why: string };

export type Interpreters = {
  /** The interpreter that has these packages. */
  get(dependencies: readonly string[]): Promise<string>;
  /** Provider packages in it: found out once per interpreter, not once per file. */
  providers(dependencies: readonly string[]): Promise<readonly ReportedProvider[]>;
  /** What its environment was made without. */
  leftOut?(dependencies: readonly string[]): Promise<readonly LeftOut[]>;
};

const IDLE_MS = 60_000;

type Entry = { compiler: Compiler; users: number; timer: NodeJS.Timeout | undefined };

export function createCompilerPool(input: {
  base: Compiler;
  interpreters: Interpreters;
  /** Tasks do not run here: what loads without its packages may do so. */
  runsElsewhere?: boolean;
  /** The compiler of another interpreter. */
  open: (python: string) => Compiler;
  idleMs?: number;
}): Compiler {
  const { base, interpreters, open, runsElsewhere = false, idleMs = IDLE_MS } = input;
  const entries = new Map<string, Entry>();
  let isClosed = false;

  function entryOf(python: string): Entry {
    const known = entries.get(python);
    if (known) return known;
    const entry: Entry = { compiler: open(python), users: 0, timer: undefined };
    entries.set(python, entry);
    return entry;
  }

  function release(python: string, entry: Entry): void {
    entry.users -= 1;
    if (entry.users > 0 || isClosed) return;
    entry.timer = setTimeout(() => {
      entries.delete(python);
      void entry.compiler.close();
    }, idleMs);
    entry.timer.unref();
  }

  /** What is known about packages is no reason for a file to fail. */
  async function withProviders(compiling: Promise<CompileAnswer>, dependencies: readonly string[]) {
    const asking = interpreters.providers(dependencies).catch(() => undefined);
    const answer = await compiling;
    return answer.ok ? { ...answer, providers: await asking } : answer;
  }

  return {
    async compile(request) {
      const { dependencies = [] } = request;
      if (dependencies.length === 0) {
        const answer = base.compile(request);
        return runsElsewhere ? answer : withProviders(answer, []);
      }
      let python: string;
      try {
        python = await interpreters.get(dependencies);
      } catch (error) {
        const { message } = error as Error;
        const without = runsElsewhere ? await base.compile(request) : undefined;
        if (!without?.ok) return refusal(message);
        return { ...without, warnings: [...without.warnings, `compiled without its packages: ${message}`] };
      }
      const entry = entryOf(python);
      entry.users += 1;
      clearTimeout(entry.timer);
      const answer = entry.compiler.compile(request).finally(() => release(python, entry));
      const leftOut = (await interpreters.leftOut?.(dependencies)) ?? [];
      return withLeftOut(await withProviders(answer, dependencies), leftOut);
    },
    async close() {
      isClosed = true;
      const open = [...entries.values()];
      entries.clear();
      for (const { timer } of open) clearTimeout(timer);
      await Promise.all([base.close(), ...open.map(({ compiler }) => compiler.close())]);
    },
  };
}

/** A file that needs a package that could not be built is told why it is missing. */
function withLeftOut(answer: CompileAnswer, leftOut: readonly LeftOut[]): CompileAnswer {
  if (leftOut.length === 0) return answer;
  if (answer.ok || answer.error.type !== 'import') return { ...answer, leftOut };
  const { error } = answer;
  const module = /No module named '([\w.]+)'/.exec(error.message)?.[1] ?? '';
  const wanted = new Set([packageOf(module), (module.split('.', 1)[0] ?? '').replaceAll('_', '-')].map(normalName));
  const { entry, why } = leftOut.find((each) => wanted.has(partsOf(each.entry).name ?? '')) ?? {};
  if (entry === undefined) return { ...answer, leftOut };
  const message = `${error.message}: ${entry} is not installed, because ${why}`;
  const instead = 'Install what its build needs, or choose a version that has a ready package, and compile again';
  return { ...answer, leftOut, error: { ...error, message, instead } };
}

const refusal = (message: string): CompileAnswer => ({
  ok: false,
  duration_ms: 0,
  output: '',
  output_truncated: false,
  warnings: [],
  dags: [],
  error: {
    type: ENVIRONMENT_ERROR,
    message,
    path: '',
    line: null,
    instead: 'Mend the requirement, or make the package reachable, and compile again',
    traceback: '',
  },
});
