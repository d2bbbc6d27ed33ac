import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { renderTable } from './table.ts';
import { printable, widthOf, wrap } from './text.ts';

const GRAPHEMES = new Intl.Segmenter(undefined, { granularity: 'grapheme' });

type Row = { name: string; value: string };

const columns = [
  { title: 'NAME', value: (row: Row) => row.name },
  { title: 'VALUE', value: (row: Row) => row.value },
];

describe('a table', () => {
  it('aligns columns by what the eye sees: wide characters count two, combining marks none', () => {
    const text = renderTable({
      columns,
      rows: [
        { name: '日本', value: 'a' },
        { name: 'e\u0301', value: 'b' },
      ],
    });
    expect(text).toBe('NAME  VALUE\n日本  a\ne\u0301     b\n');
  });

  it('gives way in its widest column and wraps there, so that nothing is cut off', () => {
    const value = 'one two three four five six';
    const text = renderTable({ columns, rows: [{ name: 'k', value }], width: 20 });
    expect(text.split('\n').every((line) => widthOf(line) <= 20)).toBe(true);
    const words = text.split(/\s+/).filter((word) => word !== '' && word !== 'k');
    expect(words).toEqual(['NAME', 'VALUE', ...value.split(' ')]);
  });

  it('keeps every row on one line when it goes to a file or a pipe', () => {
    const value = 'x'.repeat(500);
    expect(renderTable({ columns, rows: [{ name: 'k', value }] }).split('\n')).toEqual([
      'NAME  VALUE',
      `k     ${value}`,
      '',
    ]);
  });

  it('cannot be made to show forged rows or to drive the terminal', () => {
    const text = renderTable({ columns, rows: [{ name: 'a\nadmin', value: '\u001b[2J\u202e' }] });
    expect(text).toContain(String.raw`a\nadmin`);
    expect(text).toContain(String.raw`\u001b[2J\u202e`);
    expect(text.split('\n')).toHaveLength(3);
  });

  it('puts a heading before each group of rows, in one layout for all', () => {
    const rows = [
      { name: 'a', value: '1' },
      { name: 'bbbbbb', value: '2' },
    ];
    const text = renderTable({ columns, rows, groupOf: ({ value }) => `Group ${value}` });
    expect(text).toBe('NAME    VALUE\n\nGroup 1\na       1\n\nGroup 2\nbbbbbb  2\n');
  });

  it('never exceeds a width that its columns can shrink to', () => {
    const cell = fc.string({ unit: 'grapheme', maxLength: 60 });
    fc.assert(
      fc.property(
        fc.array(fc.record({ name: cell, value: cell }), { maxLength: 5 }),
        fc.integer({ min: 20, max: 100 }),
        (rows, width) => {
          const lines = renderTable({ columns, rows, width }).split('\n');
          expect(lines.every((line) => widthOf(line) <= width)).toBe(true);
        },
      ),
    );
  });
});

describe('wrapping', () => {
  it('loses no character but the spaces it breaks at', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 2, max: 40 }), (raw, width) => {
        const text = printable(raw).replaceAll('\n', '');
        const lines = wrap(text, width);
        expect(lines.join('').replaceAll(' ', '')).toBe(text.replaceAll(' ', ''));
        // One character may be wider than that by itself (𝅘𝅥𝅮 takes three), and cannot be cut.
        expect(lines.every((line) => widthOf(line) <= width || [...GRAPHEMES.segment(line)].length === 1)).toBe(true);
      }),
    );
  });
});
