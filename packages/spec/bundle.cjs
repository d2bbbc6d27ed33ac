// Finds the bundle of this checkout's programs (scripts/bundle-programs.ts), if it is made from the current sources.
// Checking a thousand files is much faster than loading them as modules. A packaged program has no bundle.
const { readFileSync, statSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const ROOT = join(__dirname, '..', '..');
const BUNDLES = join(ROOT, 'node_modules', '.cache', 'svc-programs');
/** Describes the newest bundle. */
const CURRENT = join(BUNDLES, 'current.json');
/** npm writes this file whenever it changes the installed packages. */
const INSTALLED = join('node_modules', '.package-lock.json');
/** The thread of `cli` that reads a workspace. */
const THREAD = 'compiler';
/** Programs by the folder of their main.ts, which is also the name of the file in the bundle. */
const PROGRAMS = ['cli', 'agent', 'mcp', THREAD];

const stampOf = (path) => {
  const { mtimeMs, size } = statSync(join(ROOT, path));
  return `${mtimeMs} ${size}`;
};

/** Returns the folder of the bundle. Undefined if there is none, or if a source has changed since. */
function freshBundle() {
  try {
    const { folder, stamps } = JSON.parse(readFileSync(CURRENT, 'utf8'));
    return Object.entries(stamps).every(([path, stamp]) => stampOf(path) === stamp) ? join(BUNDLES, folder) : undefined;
  } catch {
    return undefined; // no bundle was made, or one of its sources was removed
  }
}

const sourceOf = (program) => join(ROOT, 'packages', program, 'main.ts');

/** Makes this process run its program from the bundle. In a thread, it does the same for the thread's module. */
function preferBundle() {
  const program = isMainThread ? PROGRAMS.find((name) => process.argv[1] === sourceOf(name)) : THREAD;
  const bundle = program && freshBundle();
  if (!bundle) return;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL !== undefined) return next(specifier, context);
      // A library may have its own threads.
      if (!isMainThread && specifier !== pathToFileURL(sourceOf(program)).href) return next(specifier, context);
      hooks.deregister(); // the first requested module is the program itself
      return { url: pathToFileURL(join(bundle, `${program}.js`)).href, format: 'module', shortCircuit: true };
    },
  });
}

module.exports = { BUNDLES, CURRENT, INSTALLED, PROGRAMS, ROOT, freshBundle, preferBundle, stampOf };
