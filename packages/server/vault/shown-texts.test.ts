import { describe, expect, it, vi } from 'vitest';
import { createShownTexts } from './shown-texts.ts';

const place = { sealed: 'v1.key.body', tenantId: 'tenant', row: 'row' };

describe('what was shown of sealed values', () => {
  it('is asked for once, and anew for another sealed text', () => {
    const shown = createShownTexts();
    const show = vi.fn(() => 'shown');
    expect([shown.of(place, show), shown.of(place, show)]).toEqual(['shown', 'shown']);
    expect(show).toHaveBeenCalledTimes(1);
    expect(shown.of({ ...place, sealed: 'v1.key.other' }, () => 'changed')).toBe('changed');
  });

  it.each([{ row: 'another' }, { tenantId: 'another' }])(
    'is not shown where a copy of the sealed text stands: %j',
    (elsewhere) => {
      const shown = createShownTexts();
      shown.of(place, () => 'shown');
      expect(shown.of({ ...place, ...elsewhere }, () => '***')).toBe('***');
      expect(shown.of(place, () => 'shown again')).not.toBe('***');
    },
  );

  it('is forgotten when nobody has asked for it in a while, and when it is large', () => {
    const shown = createShownTexts(1_000);
    shown.of(place, () => 'first');
    for (let n = 0; n < 100; n += 1) shown.of({ ...place, sealed: `v1.key.${n}` }, () => 'x'.repeat(20));
    expect(shown.of(place, () => 'second')).toBe('second');
    const large = { ...place, sealed: 'v1.key.large' };
    expect(shown.of(large, () => 'x'.repeat(20_000))).toHaveLength(20_000);
    expect(shown.of(large, () => 'opened again')).toBe('opened again');
  });

  it('stays when it is asked for', () => {
    const shown = createShownTexts(1_000);
    for (let n = 0; n < 100; n += 1) {
      shown.of({ ...place, sealed: `v1.key.${n}` }, () => 'x'.repeat(20));
      expect(shown.of(place, () => `opened before ${n}`)).toBe('opened before 0');
    }
  });
});
