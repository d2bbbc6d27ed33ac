import { AIRFLOW_ID } from '@svc/spec/ids.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fileNameOf } from './artifact-files.ts';

describe('the name of an artifact', () => {
  it('is a file name for every DAG id, and different for different ids', () => {
    const ids = fc.stringMatching(/^[\p{L}\p{N}_.-]{1,250}$/u).filter((id) => AIRFLOW_ID.test(id));
    fc.assert(
      fc.property(ids, ids, (a, b) => {
        expect(Buffer.byteLength(fileNameOf(a))).toBeLessThanOrEqual(255);
        expect(fileNameOf(a)).toMatch(/^[^/]+\.spec\.json$/);
        expect(fileNameOf(a) === fileNameOf(b)).toBe(a === b);
      }),
    );
  });

  it('keeps long ids apart that begin alike', () => {
    const long = 'ä'.repeat(200);
    expect(fileNameOf(`${long}a`)).not.toBe(fileNameOf(`${long}b`));
    expect(Buffer.byteLength(fileNameOf(long))).toBeLessThanOrEqual(255);
  });
});
