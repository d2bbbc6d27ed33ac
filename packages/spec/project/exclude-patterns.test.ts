import { describe, expect, it } from 'vitest';
import { excludePatterns } from './exclude-patterns.ts';

describe('exclude_paths', () => {
  it('expands a plain name to the four patterns that reach it anywhere, and all below it', () => {
    expect(excludePatterns(['venv'])).toEqual(['venv', '**/venv', 'venv/**', '**/venv/**']);
    expect(excludePatterns(['.git'])).toEqual(['.git', '**/.git', '.git/**', '**/.git/**']);
  });

  it('expands a glob in the last segment to itself and anywhere, with nothing below', () => {
    expect(excludePatterns(['*.pyc'])).toEqual(['*.pyc', '**/*.pyc']);
    expect(excludePatterns(['data/*.csv'])).toEqual(['data/*.csv', '**/data/*.csv']);
    expect(excludePatterns(['file?.txt', '[ab].txt'])).toEqual([
      'file?.txt',
      '**/file?.txt',
      '[ab].txt',
      '**/[ab].txt',
    ]);
  });

  it('expands a path to that one place and all below it', () => {
    expect(excludePatterns(['secrets/prod'])).toEqual(['secrets/prod', 'secrets/prod/**']);
    expect(excludePatterns(['data/'])).toEqual(['data', 'data/**']);
    expect(excludePatterns(['*/raw'])).toEqual(['*/raw', '*/raw/**']);
  });

  it('drops entries that would re-include something or be comments, and keeps each pattern once', () => {
    expect(excludePatterns(['!keep', '#note', ' !keep', '', '  '])).toEqual([]);
    expect(excludePatterns(['a', 'a'])).toEqual(['a', '**/a', 'a/**', '**/a/**']);
  });
});
