/**
 * Limits how deep a message may nest. The checks of the protocol library recurse, so a deeper message would exhaust the
 * stack.
 */
import { Transform } from 'node:stream';
import { nestingOf } from '@svc/spec/json-shape.ts';

/** Arguments of tools have two or three levels. */
const MAX_NESTING = 100;

export const NESTING_FAULT = `a message must not be nested deeper than ${MAX_NESTING} levels`;

export const isTooDeep = (json: string): boolean => nestingOf(json) > MAX_NESTING;

/** The library ends the connection of a client that sends a longer line. */
const LONGEST_LINE_BYTES = 10 * 1024 * 1024;
const LINE_BREAK = 0x0a;

/** Passes whole lines on. Lines with too deep nesting go to `refuse` instead. */
export function createLineCheck(refuse: (line: string) => void): Transform {
  let parts: Buffer[] = [];
  let bytes = 0;

  function accepted(text: string): string {
    const lines = text.split('\n');
    return lines
      .filter((line) => {
        if (!isTooDeep(line)) return true;
        refuse(line);
        return false;
      })
      .join('\n');
  }

  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      parts.push(chunk);
      bytes += chunk.length;
      const isWhole = chunk.includes(LINE_BREAK);
      if (!isWhole && bytes <= LONGEST_LINE_BYTES) return done();
      const all = Buffer.concat(parts);
      const end = isWhole ? all.lastIndexOf(LINE_BREAK) + 1 : all.length;
      parts = [all.subarray(end)];
      bytes = all.length - end;
      done(null, isWhole ? accepted(all.toString('utf8', 0, end)) : all);
    },
  });
}
