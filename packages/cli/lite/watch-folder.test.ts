import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { eventually } from '@svc/testing/eventually.ts';
import { seededSaves } from '@svc/testing/files/seeded-saves.ts';
import type { Save } from '@svc/testing/files/seeded-saves.ts';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { watchFolder } from './watch-folder.ts';
import type { Subscribe } from './watch-folder.ts';

const SAVES = 500;

let home: string;
let root: string;
/** Moments at which each path was told; what has no path is told as ".". */
let told: Map<string, number[]>;
let warnings: string[];

beforeEach(() => {
  home = realpathSync(mkdtempSync(join(tmpdir(), 'svc-watch-')));
  root = join(home, 'workspace');
  mkdirSync(root);
  told = new Map();
  warnings = [];
});
afterEach(() => rmSync(home, { recursive: true, force: true }));

function write(path: string, text = 'x = 1\n'): void {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
}

function watchRoot(more: { subscribe?: Subscribe; lookEveryMs?: number } = {}): void {
  const watcher = watchFolder({
    folder: root,
    onChange: (path = '.') => told.set(path, [...(told.get(path) ?? []), performance.now()]),
    warn: (message) => void warnings.push(message),
    ...more,
  });
  onTestFinished(() => watcher.close());
}

const whenTold = ({ path, moment }: Save): number | undefined => told.get(path)?.find((at) => at >= moment);

async function noticed(saves: readonly Save[]): Promise<void> {
  await eventually(() => expect(saves.filter((save) => whenTold(save) === undefined)).toEqual([]));
}

/** What `change` does to the path is noticed. */
async function notices(path: string, change: () => void): Promise<void> {
  const moment = performance.now();
  change();
  await noticed([{ path, moment }]);
}

it('none of 500 saves is missed, however a program saves: write, rename, swap file, checkout, rsync, deletion, moved folders', async () => {
  const saving = seededSaves({ folder: root, elsewhere: home, seed: 32, files: 200 });
  watchRoot();
  let count = 0;
  let longest = 0;
  while (count < SAVES) {
    const saves = saving.wave();
    await noticed(saves);
    count += saves.length;
    longest = Math.max(longest, ...saves.map((save) => (whenTold(save) ?? 0) - save.moment));
  }
  expect(warnings).toEqual([]);
  console.info(JSON.stringify({ test: 'watch-folder', saves: count, longest_wait_ms: Math.round(longest) }));
});

describe('what no event of the system tells is noticed by looking', () => {
  /** Neither refuses nor tells. */
  const silent: Subscribe = async () => async () => {};

  it('a save that the system forgets to tell', async () => {
    write('a.py');
    watchRoot({ subscribe: silent, lookEveryMs: 100 });
    await notices('a.py', () => write('a.py', 'x = 2\n'));
    await notices('a.py', () => rmSync(join(root, 'a.py')));
    expect(warnings).toEqual([]);
  });

  it('all saves, when the system has no room for watches, which is said once with what to do', async () => {
    write('a.py');
    const message = "inotify_add_watch on '/d' failed: No space left on device";
    watchRoot({ subscribe: () => Promise.reject(new Error(message)) });
    await notices('a.py', () => write('a.py', 'x = 2\n'));
    await notices('deep/deeper/b.py', () => write('deep/deeper/b.py'));
    expect(warnings).toEqual([expect.stringMatching(/noticed late.*sysctl fs\.inotify\.max_user_watches=/)]);
  });

  it('all saves, when the system fails each time, which is tried a few times first', async () => {
    write('a.py');
    watchRoot({ subscribe: () => Promise.reject(new Error('Bad file descriptor')) });
    await eventually(() => expect(warnings).toEqual([expect.stringMatching(/noticed late.*Bad file descriptor/)]));
    await notices('a.py', () => write('a.py', 'x = 2\n'));
  });

  it('all saves, when the system stops watching later', async () => {
    write('a.py');
    let fail: (error: Error) => void = () => {};
    const subscribe: Subscribe = (folder, onPaths) => {
      fail = (error) => onPaths(error, []);
      return silent(folder, onPaths);
    };
    watchRoot({ subscribe });
    await eventually(() => expect(fail).not.toHaveLength(0));
    fail(new Error('ENOSPC: no more watches'));
    await notices('a.py', () => write('a.py', 'x = 2\n'));
    expect(warnings).toEqual([expect.stringMatching(/noticed late.*sysctl/)]);
  });
});

describe('folders that come, go and lead elsewhere', () => {
  it('a folder that is replaced by another of its name is watched like the first', async () => {
    write('d/deep/a.py');
    watchRoot();
    await notices('d/deep/a.py', () => write('d/deep/a.py', 'x = 2\n'));
    await notices('d/deep/a.py', () => {
      renameSync(join(root, 'd'), join(home, 'old'));
      write('d/deep/a.py', 'x = 3\n');
    });
    await notices('d/deep/a.py', () => write('d/deep/a.py', 'x = 4\n'));
  });

  it('a linked folder is watched where it leads, also when the link is turned', async () => {
    for (const name of ['one', 'two']) {
      mkdirSync(join(home, name, 'deep'), { recursive: true });
      writeFileSync(join(home, name, 'deep', 'a.py'), `x = "${name}"\n`);
    }
    symlinkSync(join(home, 'one'), join(root, 'linked'));
    watchRoot();
    await notices('linked/deep/a.py', () => writeFileSync(join(home, 'one', 'deep', 'a.py'), 'x = 2\n'));
    await notices('linked/deep/a.py', () => {
      symlinkSync(join(home, 'two'), join(home, 'link'));
      renameSync(join(home, 'link'), join(root, 'linked'));
    });
    await notices('linked/deep/a.py', () => writeFileSync(join(home, 'two', 'deep', 'a.py'), 'x = 3\n'));
  });

  it('links in a circle come to an end', async () => {
    write('d/a.py');
    symlinkSync(root, join(root, 'd', 'up'));
    symlinkSync('self', join(root, 'self'));
    watchRoot();
    await notices('d/a.py', () => write('d/a.py', 'x = 2\n'));
    expect([...told.keys()].filter((path) => path.includes('up'))).toEqual([]);
  });

  it('a workspace that is a link to a checkout follows the link to the next checkout', async () => {
    rmSync(root, { recursive: true });
    for (const name of ['one', 'two']) mkdirSync(join(home, name));
    symlinkSync(join(home, 'one'), root);
    watchRoot();
    await notices('a.py', () => write('a.py'));
    await notices('.', () => {
      symlinkSync(join(home, 'two'), join(home, 'link'));
      renameSync(join(home, 'link'), root);
    });
    await notices('b.py', () => write('b.py'));
  });

  it('a workspace that is removed and made again is watched again', async () => {
    write('d/a.py');
    watchRoot();
    await notices('.', () => rmSync(root, { recursive: true }));
    await notices('.', () => write('d/a.py'));
    await notices('d/a.py', () => write('d/a.py', 'x = 2\n'));
    expect(warnings).toEqual([]);
  });

  it('a workspace that is not there yet is watched once it is', async () => {
    rmSync(root, { recursive: true });
    watchRoot();
    await notices('.', () => write('a.py'));
    await notices('a.py', () => write('a.py', 'x = 2\n'));
  });
});

it('by-products of editors, Python and version control are no changes; .airflowignore and .env are', async () => {
  for (const path of ['a.py', '.git/index', 'd/__pycache__/a.pyc', '.env', 'd/.airflowignore']) write(path);
  watchRoot();
  for (const path of ['.git/index', 'd/__pycache__/a.pyc', '.a.py.swp', 'a.py~', '.venv/lib/b.py', 'node_modules/c.py'])
    write(path, 'y = 2\n');
  await notices('.env', () => write('.env', 'A=2\n'));
  await notices('d/.airflowignore', () => write('d/.airflowignore', 'a\n'));
  await notices('a.py', () => write('a.py', 'x = 2\n'));
  expect([...told.keys()].sort()).toEqual(['.env', 'a.py', 'd/.airflowignore']);
});

it('a file whose rights change is a change: it may be readable from now on', async () => {
  write('a.py');
  watchRoot();
  await notices('a.py', () => chmodSync(join(root, 'a.py'), 0o600));
});
