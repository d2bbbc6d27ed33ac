import { describe, expect, it } from 'vitest';
import { planInstallation } from './prepare-tests.ts';

const PACKAGES = [
  { name: 'browser', commands: ['browser', 'other-browser'], neededFor: 'the browser tests' },
  { name: 'store', commands: ['store-server'], neededFor: 'the store tests' },
];

const plan = (commands: string[], { isRoot = false, maySudo = false } = {}) => {
  const { missing, install } = planInstallation(
    { hasCommand: (name) => commands.includes(name), isRoot, maySudo: () => maySudo },
    PACKAGES,
  );
  return { missing: missing.map(({ name }) => name), install };
};

describe('what has to be installed', () => {
  it('is nothing when every package is there, under any of its names', () => {
    expect(plan(['other-browser', 'store-server', 'apt-get'], { isRoot: true })).toEqual({
      missing: [],
      install: undefined,
    });
  });

  it('is installed by root, and by who may become root without a password', () => {
    expect(plan(['store-server', 'apt-get'], { isRoot: true })).toEqual({ missing: ['browser'], install: ['env'] });
    expect(plan(['apt-get', 'sudo'], { maySudo: true })).toEqual({
      missing: ['browser', 'store'],
      install: ['sudo', '-n', 'env'],
    });
  });

  it('is only named where nobody may install it, or there is no apt', () => {
    expect(plan(['apt-get', 'sudo', 'browser'])).toEqual({ missing: ['store'], install: undefined });
    expect(plan(['browser'], { isRoot: true })).toEqual({ missing: ['store'], install: undefined });
  });
});
