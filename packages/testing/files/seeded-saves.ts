/** Saves as editors, version control and file synchronisation make them, chosen from a seed. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';

/** A path below the folder that has changed, and the moment before it did. */
export type Save = { readonly path: string; readonly moment: number };

export type SeededSaves = {
  /** Saves files in as many ways as fit into one wave, each file once. */
  wave(): Save[];
};

const IN_CHECKOUT = 10;
const ALONE_PER_WAVE = 100;

export function seededSaves(input: {
  /** Has the files that are saved when this returns; what is in it must not matter. */
  folder: string;
  /** Beside it, on the same file system: where folders are moved to. */
  elsewhere: string;
  seed: number;
  /** Files to begin with. */
  files: number;
}): SeededSaves {
  const { folder, elsewhere } = input;
  const random = randomNumbers(input.seed);
  const at = (path: string): string => join(folder, path);
  const write = (path: string, content: string | number): void => {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), `x = ${content}\n`);
  };
  const hidden = (path: string, ending: string): string => at(join(dirname(path), `.${basename(path)}${ending}`));
  const git = (...argv: string[]): void => {
    const who = ['-c', 'user.name=svc', '-c', 'user.email=svc@example.org'];
    execFileSync('git', [...who, ...argv], { cwd: folder, stdio: 'pipe' });
  };
  let last = 0;

  /** Each saves the file it is given, and says what else has changed with it. */
  const ways: Record<string, (file: string) => string[]> = {
    write(file) {
      write(file, last);
      return [file];
    },
    rename(file) {
      write(`${file}.tmp`, last);
      renameSync(at(`${file}.tmp`), at(file));
      return [file];
    },
    editor(file) {
      writeFileSync(hidden(file, '.swp'), 'unsaved');
      renameSync(at(file), at(`${file}~`));
      write(file, last);
      rmSync(at(`${file}~`));
      rmSync(hidden(file, '.swp'));
      return [file];
    },
    /** A hidden file of its own name, with the times of the source, takes the place of the old one. */
    rsyncCalls(file) {
      const draft = hidden(file, '.a8Xk2q');
      writeFileSync(draft, `x = ${last}\n`);
      utimesSync(draft, 1_700_000_000 + last, 1_700_000_000 + last);
      renameSync(draft, at(file));
      return [file];
    },
    deletion(file) {
      rmSync(at(file));
      files.splice(files.indexOf(file), 1);
      return [file];
    },
    newFolder() {
      const path = join(`new${last}`, 'deep', 'deeper', 'a.py');
      write(path, last);
      return [path];
    },
    movedHere() {
      const path = join(`here${last}`, 'deep', 'a.py');
      mkdirSync(join(elsewhere, `${last}`, 'deep'), { recursive: true });
      writeFileSync(join(elsewhere, `${last}`, 'deep', 'a.py'), 'x = 1\n');
      renameSync(join(elsewhere, `${last}`), at(`here${last}`));
      arriving.push(`here${last}`);
      return [path];
    },
    movedAway() {
      const path = arrived.shift();
      if (path === undefined) return [];
      renameSync(at(path), join(elsewhere, `away${last}`));
      return [join(path, 'deep', 'a.py')];
    },
    renamedFolder() {
      const path = arrived.shift();
      if (path === undefined) return [];
      renameSync(at(path), at(`renamed${last}`));
      return [join(path, 'deep', 'a.py'), join(`renamed${last}`, 'deep', 'a.py')];
    },
  };
  const names = Object.keys(ways);

  const files = Array.from({ length: input.files }, (_, index) => join(`d${index % 40}`, `f${index}.py`));
  const tracked = Array.from({ length: IN_CHECKOUT }, (_, index) => join('checkout', `c${index}.py`));
  const copied = Array.from({ length: IN_CHECKOUT }, (_, index) => join('copied', `c${index}.py`));
  /** In earlier waves, and in this one: what moves on must have been there for a watcher to see. */
  const arrived: string[] = [];
  const arriving: string[] = [];
  for (const file of [...files, ...tracked, ...copied]) write(file, 0);
  git('init', '--quiet', '--initial-branch=main');
  git('add', 'checkout');
  git('commit', '--quiet', '-m', 'one');
  git('checkout', '--quiet', '-b', 'other');
  for (const file of tracked) write(file, 'other');
  git('commit', '--quiet', '-am', 'two');
  const hasRsync = spawnSync('rsync', ['--version']).status === 0;
  let branch = 'other';

  /** One command each that saves several. */
  function checkout(): string[] {
    branch = branch === 'main' ? 'other' : 'main';
    git('checkout', '--quiet', branch);
    return tracked;
  }
  function rsync(): string[] {
    if (!hasRsync) return [];
    const source = join(elsewhere, `source${last}`);
    mkdirSync(source);
    for (const file of copied) writeFileSync(join(source, basename(file)), `x = "${last}"\n`);
    execFileSync('rsync', ['--archive', '--ignore-times', `${source}/`, at('copied')]);
    return copied;
  }

  return {
    wave() {
      const free = [...files];
      const saves: Save[] = [];
      const save = (change: () => string[]): void => {
        last += 1;
        const moment = performance.now();
        saves.push(...change().map((path) => ({ path, moment })));
      };
      arrived.push(...arriving.splice(0));
      for (let index = 0; index < ALONE_PER_WAVE; index += 1) {
        const [file = ''] = free.splice(random(free.length), 1);
        const way = ways[names[random(names.length)] ?? ''];
        if (way) save(() => way(file));
      }
      save(checkout);
      save(rsync);
      return saves;
    },
  };
}

function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
