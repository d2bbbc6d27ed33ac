import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { pythonEnvironment } from '@svc/testing/python-environment.ts';
import { ensurePython } from './python-environment.ts';
import { PythonEnvironmentError } from './python-failures.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-python-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** A PATH on which `python3` is a script of ours. */
function fakePython(script: string): string {
  const bin = join(folder, 'bin');
  mkdirSync(bin);
  for (const name of ['python3', 'python']) {
    writeFileSync(join(bin, name), `#!/bin/sh\n${script}\n`);
    chmodSync(join(bin, name), 0o755);
  }
  for (const tool of ['sh', 'mkdir', 'ln', 'touch', 'dirname']) {
    const real = ['/bin', '/usr/bin'].map((place) => join(place, tool)).find(existsSync);
    if (real) symlinkSync(real, join(bin, tool));
  }
  return bin;
}

const failure = (env: Record<string, string>): Promise<PythonEnvironmentError> =>
  ensurePython({ env: { XDG_CACHE_HOME: folder, SVC_PYTHON: '', ...env } }).then(
    () => expect.unreachable('it should have failed'),
    (error: unknown) => {
      if (error instanceof PythonEnvironmentError) return error;
      throw error;
    },
  );

/** Answers the question for the version, and does `rest` for everything else. */
const pretending = (version: string, rest: string) =>
  `if [ "$1" = -c ]; then case "$2" in *version_info*) echo ${version}; exit 0;; esac; fi\n${rest}`;

/** Stands in for venv, which copies the interpreter it is run with; the packages come from nowhere. */
const WORKING = pretending(
  '3.12.1',
  'if [ "$2" = venv ]; then mkdir -p "$3/bin"; ln -s "$0" "$3/bin/python"; fi; exit 0',
);

describe('without an environment', () => {
  it('says which Python is too old, and what to do', async () => {
    const error = await failure({ PATH: fakePython(pretending('3.8.10', 'exit 1')) });
    expect(error.message).toContain('Python 3.10 or newer: python3 is 3.8.10');
    expect(error.hint).toContain('apt install python3');
  });

  it('says that there is no Python at all', async () => {
    const error = await failure({ PATH: join(folder, 'nothing-here') });
    expect(error.message).toContain('there is no python3 on the PATH');
    expect(error.hint).toContain('SVC_PYTHON');
  });

  it('without a network says how to do without one, and leaves no half environment', async () => {
    // The real venv and the real pip, with an index where nothing listens.
    const error = await failure({
      PIP_INDEX_URL: 'http://127.0.0.1:9/simple',
      PIP_RETRIES: '0',
      PIP_NO_CACHE_DIR: '1',
    });
    expect(error.message).toContain('installing jinja2 and pendulum failed');
    expect(error.hint).toMatch(/PIP_INDEX_URL.*SVC_PYTHON/);
    expect(readdirSync(join(folder, 'svc'))).toEqual([]);
  });

  it('knows the Python of Debian that comes without venv', async () => {
    const complaint = 'echo "The virtual environment was not created successfully because ensurepip is not available."';
    const error = await failure({ PATH: fakePython(pretending('3.11.2', `${complaint}; exit 1`)) });
    expect(error.hint).toContain('python3-venv');
  });

  it('is told when its cache cannot be written', async () => {
    writeFileSync(join(folder, 'file'), '');
    const error = await failure({ PATH: fakePython(WORKING), XDG_CACHE_HOME: join(folder, 'file') });
    expect(error.hint).toContain('XDG_CACHE_HOME');
  });
});

describe('the environment', () => {
  it('is built once, in the cache, with progress, and then used without a word', async () => {
    const env = { PATH: fakePython(WORKING), XDG_CACHE_HOME: folder, SVC_PYTHON: '' };
    const told: string[] = [];
    const first = await ensurePython({ env, say: (text) => told.push(text) });
    expect(first.startsWith(join(folder, 'svc', 'python-'))).toBe(true);
    expect(told).toHaveLength(3);
    expect(await ensurePython({ env, say: (text) => told.push(text) })).toBe(first);
    expect(told).toHaveLength(3);
  });

  it('gets an installer of its own where the machine has none to copy', async () => {
    const marked = join(folder, 'made with its own');
    const script = `case "$2" in *copytree*) exit 1 ;; esac; [ "$4" = --clear ] && touch "${marked}"`;
    const working = 'if [ "$2" = venv ]; then mkdir -p "$3/bin"; ln -sf "$0" "$3/bin/python"; fi; exit 0';
    const env = {
      PATH: fakePython(pretending('3.12.1', `${script}; ${working}`)),
      XDG_CACHE_HOME: folder,
      SVC_PYTHON: '',
    };
    await ensurePython({ env });
    expect(existsSync(marked)).toBe(true);
  });

  it('built by several at once is one whole environment, and nothing else is left', async () => {
    const env = { PATH: fakePython(WORKING), XDG_CACHE_HOME: folder, SVC_PYTHON: '' };
    const paths = await Promise.all(Array.from({ length: 5 }, () => ensurePython({ env })));
    expect(new Set(paths).size).toBe(1);
    expect(readdirSync(join(folder, 'svc'))).toHaveLength(1);
  });

  it('is built again when its interpreter was removed from the machine', async () => {
    const env = { PATH: fakePython(WORKING), XDG_CACHE_HOME: folder, SVC_PYTHON: '' };
    const python = await ensurePython({ env });
    rmSync(python);
    symlinkSync(join(folder, 'uninstalled'), python);
    expect(await ensurePython({ env })).toBe(python);
    expect(existsSync(python)).toBe(true);
    expect(readdirSync(join(folder, 'svc'))).toHaveLength(1);
  });
});

describe('SVC_PYTHON', () => {
  it('is used as it is, without building anything', async () => {
    const python = await pythonEnvironment();
    expect(await ensurePython({ env: { SVC_PYTHON: python, XDG_CACHE_HOME: folder } })).toBe(python);
    expect(readdirSync(folder)).toEqual([]);
  });

  it('is not tried when whoever set it has tried it, but is when it is another by now', async () => {
    const bin = fakePython('exit 1');
    const python = join(bin, 'python3');
    expect(await ensurePython({ env: { SVC_PYTHON: python, SVC_PYTHON_CHECKED: python } })).toBe(python);
    const other = await failure({ SVC_PYTHON: python, SVC_PYTHON_CHECKED: '/usr/local/bin/python' });
    expect(other.message).toContain('lacks packages');
  });

  it('is not tried when it is an environment of ours, but is when that was made of other packages or is half gone', async () => {
    const env = { PATH: fakePython(WORKING), XDG_CACHE_HOME: folder, SVC_PYTHON: '' };
    const python = await ensurePython({ env });
    // Nobody who asks it anything gets an answer.
    writeFileSync(join(folder, 'bin', 'python3'), '#!/bin/sh\nexit 1\n');
    expect(await ensurePython({ env: { SVC_PYTHON: python } })).toBe(python);
    const renamed = join(folder, 'svc', 'python-000000000000');
    renameSync(dirname(dirname(python)), renamed);
    expect((await failure({ SVC_PYTHON: join(renamed, 'bin', 'python') })).message).toContain('lacks packages');
    renameSync(renamed, dirname(dirname(python)));
    rmSync(python);
    expect((await failure({ SVC_PYTHON: python })).message).toContain('cannot be run');
  });

  it('that cannot be run, is too old or lacks packages is refused with its own name', async () => {
    const missing = await failure({ SVC_PYTHON: join(folder, 'nowhere') });
    expect(missing.message).toMatch(/SVC_PYTHON is .*nowhere, which cannot be run: there is no such program/);
    const bin = fakePython(pretending('3.9.1', 'exit 0'));
    const old = await failure({ SVC_PYTHON: join(bin, 'python3') });
    expect(old.message).toContain('which is Python 3.9.1');
    writeFileSync(join(bin, 'python3'), `#!/bin/sh\necho 3.12.0; echo "No module named 'jinja2'" >&2; exit 1\n`);
    const bare = await failure({ SVC_PYTHON: join(bin, 'python3') });
    expect(bare.message).toContain("lacks packages: No module named 'jinja2'");
    expect(bare.hint).toContain('-m pip install jinja2 pendulum');
  });
});
