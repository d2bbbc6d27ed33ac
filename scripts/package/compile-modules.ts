/**
 * The modules that programs need, as JavaScript. Node runs our TypeScript as it is, but not below node_modules: there the
 * types have to be gone. They are replaced by blanks, so a line in a stack trace is the line of the source.
 */
import { readFileSync } from 'node:fs';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, normalize, relative } from 'node:path/posix';
import { init, parse } from 'es-module-lexer';

/** Of the repository, with forward slashes. */
type ModulePath = string;

export type CompiledModules = {
  /** Text by the path it is to have. */
  readonly modules: ReadonlyMap<ModulePath, string>;
  /** Folders of the packages they come from. */
  readonly packages: readonly string[];
};

const OWN_SCOPE = '@svc/';
const asJavaScript = (path: ModulePath): ModulePath => path.replace(/\.ts$/, '.js');
const packageOf = (path: ModulePath): string => path.split('/').slice(0, 2).join('/');

export async function compileModules(root: string, entries: readonly ModulePath[]): Promise<CompiledModules> {
  await init;
  const modules = new Map<ModulePath, string>();
  const seen = new Set(entries);
  for (const path of seen) {
    const { text, imports } = compileModule(path, readFileSync(join(root, path), 'utf8'));
    modules.set(asJavaScript(path), text);
    for (const imported of imports) seen.add(imported); // a set goes on with what is added while it is walked
  }
  return { modules, packages: [...new Set([...seen].map(packageOf))].sort() };
}

/** One module as JavaScript, and those of the repository that it imports. Packages of ours are addressed by their place. */
export function compileModule(path: ModulePath, source: string): { text: string; imports: readonly ModulePath[] } {
  let text = stripTypeScriptTypes(source, { mode: 'strip' });
  const imports: ModulePath[] = [];
  // From the last to the first, so that what is replaced does not move what is still to come.
  for (const { n: specifier, s: start, e: end, d: dynamicAt } of parse(text, path)[0].toReversed()) {
    if (dynamicAt === -2) continue; // import.meta
    const target = specifier === undefined ? undefined : ownModule(path, specifier);
    if (target === undefined) {
      refuseUnseen(path, specifier ?? text.slice(start, end));
      continue;
    }
    imports.push(target);
    const place = relative(dirname(path), asJavaScript(target));
    const written = place.startsWith('.') ? place : `./${place}`;
    text = text.slice(0, start) + (dynamicAt === -1 ? written : `'${written}'`) + text.slice(end);
  }
  return { text, imports };
}

function ownModule(path: ModulePath, specifier: string): ModulePath | undefined {
  if (specifier.startsWith('.')) return normalize(join(dirname(path), specifier));
  if (specifier.startsWith(OWN_SCOPE)) return `packages/${specifier.slice(OWN_SCOPE.length)}`;
  return undefined;
}

/** A module of ours whose name is put together at run time would be missing in the package. */
function refuseUnseen(path: ModulePath, specifier: string): void {
  if (/^[`'"]?(?:@(?!svc\/)|[a-z])[\w.:/-]*/i.test(specifier)) return;
  throw new Error(`${path} imports ${specifier}: name the module outright, so that it can be packaged`);
}
