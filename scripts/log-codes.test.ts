/** Each warning and each error of the control plane and the agent has a code of packages/spec/log-codes. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { LOG_MESSAGES } from '@svc/spec/log-codes/log-codes.ts';

const ROOT = join(import.meta.dirname, '..');
const CALL = /(?:\b(?:\w*[lL]og|logger)\??\.(?:warn|error|fatal)|\bcoded)\(/g;
const CODE = /'(SVC\d{4})'/g;

type Call = { file: string; line: number; codes: string[]; text: string };

/** Calls of a logger with their arguments. A code may also be in the statements that make the arguments. */
function callsOf(file: string, source: string): Call[] {
  return [...source.matchAll(CALL)].map(({ index, 0: start }) => {
    const end = endOf(source, index + start.length);
    const words = source.slice(index, end);
    const own = [...words.matchAll(CODE)];
    const before = source.slice(0, index).split('\n').slice(-3).join('\n');
    const codes = own.length > 0 ? own : [...before.matchAll(CODE)];
    const line = source.slice(0, index).split('\n').length;
    return { file, line, codes: codes.map(([, code = '']) => code), text: before + words };
  });
}

function endOf(source: string, from: number): number {
  let depth = 1;
  let at = from;
  for (; depth > 0 && at < source.length; at += 1) depth += source[at] === '(' ? 1 : source[at] === ')' ? -1 : 0;
  return at;
}

/** Messages of bundles and alerts get codes of the area SVC7 next. */
const WITHOUT_CODES = ['packages/server/delivery/', 'packages/server/alerts/'];

const CALLS = globSync('packages/{server,agent}/**/*.ts', { cwd: ROOT })
  .filter((file) => !file.endsWith('.test.ts') && !file.includes('node_modules') && !file.endsWith('agent/coded.ts'))
  .filter((file) => !WITHOUT_CODES.some((folder) => file.startsWith(folder)))
  .flatMap((file) => callsOf(file, readFileSync(join(ROOT, file), 'utf8')));

describe('warnings and errors in the logs of the control plane and the agent', () => {
  it('each have a code that operators can look up, so that no line has to be found by its words', () => {
    const without = CALLS.filter(({ codes }) => codes.length === 0 || codes.some((code) => !LOG_MESSAGES.has(code)));
    const places = without.map(({ file, line }) => `${file}:${line}`);
    expect(places, 'add a row to packages/spec/log-codes, and name its code in the call').toEqual([]);
    expect(CALLS.length).toBeGreaterThan(80);
  });

  it('have the message that the page of codes shows, so that one code never means two things', () => {
    const different = CALLS.flatMap(({ file, line, codes, text }) =>
      codes.flatMap((code) => {
        const row = LOG_MESSAGES.get(code);
        if (!row || row.varies) return [];
        const isSame = row.text.split('…').every((part) => text.includes(part));
        return isSame ? [] : [`${file}:${line} ${code}: ${row.text}`];
      }),
    );
    expect(different).toEqual([]);
    const files = Map.groupBy(
      CALLS.flatMap(({ file, codes }) => codes.map((code) => ({ file, code }))),
      ({ code }) => code,
    );
    const inSeveral = [...files].filter(([code, uses]) => {
      const isOne = new Set(uses.map(({ file }) => file)).size === 1;
      return !isOne && LOG_MESSAGES.get(code)?.varies === true;
    });
    expect(inSeveral.map(([code]) => code)).toEqual([]);
  });

  it('use every code of the page, which lists no message that cannot come', () => {
    const used = new Set(CALLS.flatMap(({ codes }) => codes));
    expect([...LOG_MESSAGES.keys()].filter((code) => !used.has(code))).toEqual([]);
  });
});
