import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BUILD_FILE_PREFIX, mergeIgnoreFile, readOwnIgnoreFile, withBuildFiles } from './ignore-file.ts';
import { removeLeftovers, temporaryName } from './leftovers.ts';

let directory = '';
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'svc-ignore-'));
});
afterEach(() => {
  rmSync(directory, { recursive: true });
});

const write = (name: string, text = ''): void => writeFileSync(join(directory, name), text);
const left = (): string[] => readdirSync(directory).filter((name) => name.startsWith(BUILD_FILE_PREFIX));

describe('the merged ignore file', () => {
  it('ends with our patterns, so that no line of the project brings an excluded path back', () => {
    expect(mergeIgnoreFile('*.log\n!.git/config\n!keep.log', ['.git', '*.pem', 'conf/secret']).split('\n')).toEqual([
      '*.log',
      '!.git/config',
      '!keep.log',
      '.git',
      '**/.git',
      '.git/**',
      '**/.git/**',
      '*.pem',
      '**/*.pem',
      'conf/secret',
      'conf/secret/**',
      '.svc-build-*',
      '',
    ]);
  });

  it('reads a file from another system: byte order mark, carriage returns, no last newline', () => {
    expect(mergeIgnoreFile('\uFEFF*.log\r\n\r\n# why\r\n!a.log', [])).toBe('*.log\n# why\n!a.log\n.svc-build-*\n');
  });

  it('has no line of ours that re-includes, however an entry is written', () => {
    expect(mergeIgnoreFile(undefined, ['!.env', '#x', '  !y'])).toBe('.svc-build-*\n');
    expect(() => mergeIgnoreFile(undefined, ['a\n!.git'])).toThrow(/exclude_paths must not contain a line break/);
    const part = fc.oneof(
      fc.constantFrom('!', '#', ' ', '\t', '\u0085', '\u00A0', '\uFEFF', '/', '*', 'a'),
      fc.string(),
    );
    const entry = fc.array(part, { minLength: 1 }).map((parts) => parts.join('').replace(/[\r\n]/g, ''));
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const lines = mergeIgnoreFile(undefined, entries).split('\n');
        // What Go, in which the tools are written, trims from a line before it looks for the `!`.
        expect(lines.filter((line) => /^[\t\v\f \u0085\p{Z}]*!/u.test(line))).toEqual([]);
      }),
    );
  });
});

describe("the project's own ignore file", () => {
  const read = (firstChoice: '.dockerignore' | '.containerignore', buildFileName?: string): string | undefined =>
    readOwnIgnoreFile({ directory, firstChoice, buildFileName });

  it('is the one the tool would read, and the other one rather than none', () => {
    expect(read('.dockerignore')).toBeUndefined();
    write('.containerignore', 'container');
    expect(read('.dockerignore')).toBe('container');
    write('.dockerignore', 'docker');
    expect([read('.dockerignore'), read('.containerignore')]).toEqual(['docker', 'container']);
  });

  it('is the one beside the own build file before all others', () => {
    write('.dockerignore', 'general');
    write('Dockerfile.dockerignore', 'particular');
    expect(read('.containerignore', 'Dockerfile')).toBe('particular');
    expect(read('.containerignore')).toBe('general');
  });
});

describe('the temporary pair', () => {
  const use = { buildFile: 'FROM x\n', ignoreFile: '.git\n' };

  it('is private, lies in the context while the build runs, and is gone after it', async () => {
    write('.dockerignore', 'mine');
    const seen = await withBuildFiles({ directory, ...use }, async ({ buildFile, ignoreFile }) => {
      expect(ignoreFile).toBe(`${buildFile}.dockerignore`);
      return [buildFile, ignoreFile].map((name) => {
        const path = join(directory, name);
        return [readFileSync(path, 'utf8'), (statSync(path).mode & 0o777).toString(8)];
      });
    });
    expect(seen).toEqual([
      ['FROM x\n', '600'],
      ['.git\n', '600'],
    ]);
    expect(readdirSync(directory)).toEqual(['.dockerignore']);
    expect(readFileSync(join(directory, '.dockerignore'), 'utf8')).toBe('mine');
  });

  it('is gone after a build that failed', async () => {
    await expect(withBuildFiles({ directory, ...use }, () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(left()).toEqual([]);
  });

  it('of two builds of one project at a time do not meet', async () => {
    const names = await withBuildFiles({ directory, ...use }, (first) =>
      withBuildFiles({ directory, ...use }, async (second) => [first, second, left().length] as const),
    );
    expect(names[0].buildFile).not.toBe(names[1].buildFile);
    expect(names[2]).toBe(4);
    expect(left()).toEqual([]);
  });

  it('cannot be put into a directory that is not writable, and the message says so', async () => {
    await expect(withBuildFiles({ directory: '/proc/self', ...use }, async () => {})).rejects.toThrow(
      /cannot put its two temporary files into \/proc\/self/,
    );
  });
});

/** A build that never ends, in a process of its own; resolves when its files are there. */
async function startBuild(more = ''): Promise<{ kill: (signal: NodeJS.Signals) => Promise<unknown[]> }> {
  const module = join(import.meta.dirname, 'ignore-file.ts');
  const script = `
    import { withBuildFiles } from ${JSON.stringify(module)};
    ${more}
    await withBuildFiles({ directory: ${JSON.stringify(directory)}, buildFile: 'b', ignoreFile: 'i' }, () => {
      console.log('building');
      return new Promise((resolve) => { setTimeout(resolve, 600_000); });
    });`;
  const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  await once(child.stdout, 'data');
  return {
    kill: (signal) => {
      child.kill(signal);
      return once(child, 'exit');
    },
  };
}

describe('a build that is interrupted', () => {
  it.each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)('by %s leaves nothing and ends by that signal', async (signal) => {
    const build = await startBuild();
    expect(left()).toHaveLength(2);
    expect(await build.kill(signal)).toEqual([null, signal]);
    expect(left()).toEqual([]);
  });

  it('in a program with its own way to stop leaves nothing and lets that program decide', async () => {
    const build = await startBuild(`process.on('SIGTERM', () => setTimeout(() => process.exit(7), 10));`);
    expect(await build.kill('SIGTERM')).toEqual([7, null]);
    expect(left()).toEqual([]);
  });

  it('by process.exit() leaves nothing', async () => {
    const build = await startBuild(`process.on('SIGUSR2', () => process.exit(3));`);
    expect(await build.kill('SIGUSR2')).toEqual([3, null]);
    expect(left()).toEqual([]);
  });

  it('by SIGKILL leaves its files, and the next build removes them', async () => {
    const build = await startBuild();
    await build.kill('SIGKILL');
    const crashed = left();
    expect(crashed).toHaveLength(2);
    await withBuildFiles({ directory, buildFile: 'b', ignoreFile: 'i' }, async () => {
      for (const name of crashed) expect(existsSync(join(directory, name))).toBe(false);
    });
    expect(left()).toEqual([]);
  });
});

describe('leftovers', () => {
  const DAY_AGO = Date.now() / 1_000 - 90_000;
  const DEAD = '4194304'; // one more than Linux ever gives out

  it('of a process that lives stay, unless they are older than a day', async () => {
    const build = await startBuild();
    const name = temporaryName('.svc-build-');
    write(name);
    expect(removeLeftovers(directory, '.svc-build-')).toEqual([]);
    utimesSync(join(directory, name), DAY_AGO, DAY_AGO);
    expect(removeLeftovers(directory, '.svc-build-')).toEqual([name]);
    expect(left()).toHaveLength(2);
    await build.kill('SIGTERM');
  });

  it('of another machine are judged by age alone: its process ids mean nothing here', () => {
    const name = `.svc-build-00000000-${DEAD}-0123456789ab`;
    write(name);
    expect(removeLeftovers(directory, '.svc-build-')).toEqual([]);
    utimesSync(join(directory, name), DAY_AGO, DAY_AGO);
    expect(removeLeftovers(directory, '.svc-build-')).toEqual([name]);
  });

  it('are only what has our form: a file of the user that looks a little like it stays', () => {
    const names = [
      '.svc-build-notes',
      `.svc-build-1-${DEAD}-x`,
      '.svc-build-',
      `x.svc-build-00000000-${DEAD}-0123456789ab`,
    ];
    for (const name of names) {
      write(name);
      utimesSync(join(directory, name), DAY_AGO, DAY_AGO);
    }
    expect(removeLeftovers(directory, '.svc-build-')).toEqual([]);
  });

  it('that may not be removed do not stop a build', async () => {
    const module = join(import.meta.dirname, 'leftovers.ts');
    const script = `
      import { removeLeftovers } from ${JSON.stringify(module)};
      if (process.getuid() === 0) { process.setgid(65534); process.setuid(65534); }
      console.log(JSON.stringify(removeLeftovers(${JSON.stringify(directory)}, '.svc-build-')));`;
    const name = temporaryName('.svc-build-').replace(/-\d+-/, `-${DEAD}-`);
    write(name);
    chmodSync(directory, 0o555);
    const child = spawn(process.execPath, ['--input-type=module', '--eval', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const [output] = (await once(child.stdout, 'data')) as [Buffer];
    expect(JSON.parse(output.toString())).toEqual([]);
    expect(left()).toEqual([name]);
  });
});
