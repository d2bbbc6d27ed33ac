// The bundle of this checkout's programs (scripts/bundle-programs.ts), when it is that of the sources as they are now: to look
// at a thousand files takes 8 ms, to load them as modules takes most of a second. A program that was packaged has none.
const { readFileSync, statSync } = require('node:fs');
const { registerHooks } = require('node:module');
const { join } = require('node:path');
const { pathToFileURL } = require('node:url');
const { isMainThread } = require('node:worker_threads');

const ROOT = join(__dirname, '..', '..');
const BUNDLES = join(ROOT, 'node_modules', '.cache', 'svc-programs');
/** What is said of the newest one. */
const CURRENT = join(BUNDLES, 'current.json');
/** Written by npm whenever it changes what is installed. */
const INSTALLED = join('node_modules', '.package-lock.json');
/** The thread of `cli` that reads a workspace. */
const THREAD = 'compiler';
/** By the folder of their main.ts, which is also the name of the file in the bundle. */
const PROGRAMS = ['cli', 'agent', 'mcp', THREAD];

const stampOf = (path) => {
  const { mtimeMs, size } = statSync(join(ROOT, path));
  return `${mtimeMs} ${size}`;
};

/** Its folder, or undefined when there is none or something has changed since. */
function freshBundle() {
  try {
    const { folder, stamps } = JSON.parse(readFileSync(CURRENT, 'utf8'));
    return Object.entries(stamps).every(([path, stamp]) => stampOf(path) === stamp) ? join(BUNDLES, folder) : undefined;
  } catch {
    return undefined; // none was made, or a source of it is gone
  }
}

const sourceOf = (program) => join(ROOT, 'packages', program, 'main.ts');

/** Runs the program from there that this process was started with, or the thread that this is the beginning of. */
function preferBundle() {
  const program = isMainThread ? PROGRAMS.find((name) => process.argv[1] === sourceOf(name)) : THREAD;
  const bundle = program && freshBundle();
  if (!bundle) return;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      if (context.parentURL !== undefined) return next(specifier, context);
      // A library may have threads of its own.
      if (!isMainThread && specifier !== pathToFileURL(sourceOf(program)).href) return next(specifier, context);
      hooks.deregister(); // the first that is asked for is the program itself
      return { url: pathToFileURL(join(bundle, `${program}.js`)).href, format: 'module', shortCircuit: true };
    },
  });
}

module.exports = { BUNDLES, CURRENT, INSTALLED, PROGRAMS, ROOT, freshBundle, preferBundle, stampOf };
