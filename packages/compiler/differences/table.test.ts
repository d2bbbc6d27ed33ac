/** The one table of differences, its warnings and its part of the page. */
import { makeSpec, makeTask } from '@svc/testing/spec/make-spec.ts';
import { describe, expect, it } from 'vitest';
import { renderComingFromAirflow } from './reference.ts';
import { DIFFERENCES } from './table.ts';
import { differenceWarnings } from './warnings.ts';

describe('the table of differences', () => {
  it('names each difference once', () => {
    const ids = DIFFERENCES.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('makes one warning of a row, however many tasks it is about', () => {
    const tasks = ['a', 'b', 'c', 'd', 'e', 'f', 'g'].map((id) => makeTask(id, { policy: { queue: 'big' } }));
    expect(differenceWarnings(makeSpec({ dagId: 'd', tasks }), [])).toEqual([
      expect.stringMatching(/^Differs from Airflow: queue= .* \(tasks a, b, c, d, e and 2 more\)\. /),
    ]);
  });

  it('makes a warning of what the Python side noted, and none of what changed since Airflow 2', () => {
    const spec = makeSpec({ dagId: 'd', tasks: [] });
    expect(differenceWarnings(spec, [])).toEqual([]);
    const noted = [{ row: 'metrics', what: '[metrics] statsd_on', place: '' }];
    expect(differenceWarnings(spec, noted)).toEqual([expect.stringContaining('([metrics] statsd_on)')]);
  });

  it('is on the page in full, and leaves the rest of the page alone', () => {
    const page = renderComingFromAirflow();
    for (const { id, title } of DIFFERENCES) {
      expect(page).toContain(`| \`${id}\` | `);
      expect(page).toContain(title);
    }
    expect(renderComingFromAirflow(page)).toBe(page);
    expect(page.split('\n').filter((line) => line.length > 120)).toEqual([]);
    expect(() => renderComingFromAirflow('# Another page')).toThrow('has lost the marks');
  });
});
