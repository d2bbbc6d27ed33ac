import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

/** The versions that a go.mod requires, or replaces them by. */
function modulesOf(program: string): ReadonlyMap<string, string> {
  const text = readFileSync(join(import.meta.dirname, program, 'go.mod'), 'utf8');
  const required = new Map<string, string>();
  const replaced = new Map<string, string>();
  for (const line of text.split('\n').map((each) => each.replace(/^(require|replace) |\s*\/\/.*$/g, '').trim())) {
    const [, name, by, version] = /^(\S+) => (\S+) (v\S+)$/.exec(line) ?? [];
    if (name !== undefined && version !== undefined && by === name) replaced.set(name, version);
    const [, own, wanted] = /^(\S+) (v\S+)$/.exec(line) ?? [];
    if (own !== undefined && wanted !== undefined) required.set(own, wanted);
  }
  return new Map([...required].map(([name, version]) => [name, replaced.get(name) ?? version]));
}

it.each(['coredns', 'helm'])(
  '%s has its modules in the versions of Kubernetes: otherwise half of Kubernetes is compiled again for it',
  (program) => {
    const ours = modulesOf('hyperkube');
    const used = modulesOf(program);
    const shared = [...used].filter(([name]) => ours.has(name));
    expect(shared.length).toBeGreaterThan(10);
    const others = shared.filter(([name, version]) => ours.get(name) !== version);
    const commands = others.map(([name]) => `go mod edit -replace=${name}=${name}@${ours.get(name)}`);
    expect(commands, `in scripts/kubernetes/${program}, then GOFLAGS=-mod=mod go mod tidy`).toEqual([]);
  },
);
