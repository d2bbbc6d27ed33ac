/**
 * Which configuration keys a source text reads. By names, not by types (the compiler of this checkout offers no API): what
 * counts is a chain of names that begins with `config`, or with a name that the same file takes out of it.
 *
 *   config.server.role                       const { executor, auth: { jwt } } = config; executor.type; jwt.secret
 *   function f({ logs }: Config)
 *   const sink = config.logs.sink;           f(config.auth.bootstrap)  and  { ...defaults.staging }  are all keys below it
 *
 * Its limits: a name means the same all over a file; a value that travels under another name (`settings.secret`) is not
 * followed, the place that hands it on counts; a key that is named in a comment or a string does not.
 */

type Aliases = ReadonlyMap<string, readonly string[]>;

const CHAIN = /(?<![\w$]|(?<!\.\.)\.)([A-Za-z_$][\w$]*)((?:\s*\??\.\s*[A-Za-z_$][\w$]*)*)/g;
const TAKEN_APART = /\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*(?::[^=;(){}]*)?=\s*([A-Za-z_$][\w$]*(?:\s*\??\.\s*[\w$]+)*)/g;
const NAMED = /\b(?:const|let)\s+([A-Za-z_$][\w$]*)\s*(?::[^=;]*)?=\s*([A-Za-z_$][\w$]*(?:\s*\??\.\s*[\w$]+)+)\s*;/g;

/** `({ logs }: Config)`: as if it were taken out of `config`. */
const PARAMETER = /\{([^{}]*(?:\{[^{}]*\}[^{}]*)*)\}\s*:\s*(?:Pick<)?Config\b/g;

/** `paths`: of every key, the way into the configuration (`['server', 'httpAddr']`). Those of them that are read. */
export function keyReads(source: string, paths: readonly (readonly string[])[]): Set<string> {
  const text = withoutWords(source).replaceAll(PARAMETER, '{$1} = config');
  const branches = new Set(
    paths.flatMap((path) => path.slice(0, -1).map((_, end) => path.slice(0, end + 1).join('.'))),
  );
  const leaves = new Set(paths.map((path) => path.join('.')));
  const found = new Set<string>();
  const aliases = aliasesOf(text, branches);

  const note = (path: readonly string[], isTakenApart: boolean): void => {
    const leaf = path.map((_, end) => path.slice(0, end + 1).join('.')).find((name) => leaves.has(name));
    if (leaf !== undefined) return void found.add(leaf);
    const branch = path.join('.');
    if (isTakenApart || !branches.has(branch)) return;
    for (const name of leaves) if (name.startsWith(`${branch}.`)) found.add(name); // handed on as a whole
  };

  for (const [, names = '', from = ''] of text.matchAll(TAKEN_APART)) {
    const base = pathOf(from, aliases);
    if (base) for (const { path } of bindings(names)) note([...base, ...path], true);
  }
  for (const match of text.matchAll(CHAIN)) {
    const [whole, head = '', rest = ''] = match;
    const path = pathOf(whole, aliases);
    if (!path || path.length === 0) continue;
    const before = text.slice(0, match.index);
    const isTakenApart =
      /\}\s*(?::[^=;(){}]*)?=\s*$/.test(before) || /\b(?:const|let)\s+[\w$]+\s*(?::[^=;]*)?=\s*$/.test(before);
    // A bare alias is a name among others (a parameter, a property): only what is taken from it counts.
    if (rest === '' && head !== 'config') {
      if (leaves.has(path.join('.'))) note(path, true);
      continue;
    }
    note(path, isTakenApart);
  }
  return found;
}

function pathOf(chain: string, aliases: Aliases): string[] | undefined {
  const [head = '', ...rest] = chain.split('.').map((name) => name.replace('?', '').trim());
  if (head === 'config') return rest;
  const base = aliases.get(head);
  return base && [...base, ...rest];
}

/** Names that stand for branches. Leaves are counted where they are taken out. */
function aliasesOf(text: string, branches: ReadonlySet<string>): Aliases {
  const aliases = new Map<string, readonly string[]>();
  for (let before = -1; before !== aliases.size;) {
    before = aliases.size;
    for (const [, names = '', from = ''] of text.matchAll(TAKEN_APART)) {
      const base = pathOf(from, aliases);
      if (!base) continue;
      for (const { name, path } of bindings(names)) {
        const full = [...base, ...path];
        if (branches.has(full.join('.'))) aliases.set(name, full);
      }
    }
    for (const [, name = '', from = ''] of text.matchAll(NAMED)) {
      const full = pathOf(from, aliases);
      if (full && branches.has(full.join('.'))) aliases.set(name, full);
    }
  }
  return aliases;
}

/** `a, b: c, d: { e = 1 }, ...rest` → a, c of b, e of d. */
function bindings(names: string, above: readonly string[] = []): { name: string; path: readonly string[] }[] {
  return [...names.matchAll(/([A-Za-z_$][\w$]*)\s*(?::\s*(?:\{([^{}]*)\}|([A-Za-z_$][\w$]*)))?[^,]*/g)].flatMap(
    ([, key = '', inner, alias]) => {
      const path = [...above, key];
      return inner === undefined ? [{ name: alias ?? key, path }] : bindings(inner, path);
    },
  );
}

/** Comments and the words of strings, but not what `${…}` puts in. */
function withoutWords(source: string): string {
  return source
    .replaceAll(/\/\*[\s\S]*?\*\//g, ' ')
    .replaceAll(/(^|[^:'"`\\])\/\/[^\n]*/g, '$1')
    .replaceAll(/'(?:[^'\\\n]|\\.)*'/g, "''")
    .replaceAll(/`(?:[^`\\]|\\.)*`/g, (text) =>
      [...text.matchAll(/\$\{([^{}]*)\}/g)].map(([, code = '']) => `(${code})`).join(' '),
    );
}
