/** The formats of resources. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { UNTRUSTED_NOTICE, quoteUntrusted } from '../text/untrusted.ts';

/** For programs that show resources to models. They can read this mark instead of the text. */
const UNTRUSTED_META = { 'svc/untrusted': true };

export const jsonContents = (uri: URL, value: Record<string, unknown>): ReadResourceResult => ({
  contents: [
    {
      uri: uri.href,
      mimeType: 'application/json',
      text: JSON.stringify({ notice: UNTRUSTED_NOTICE, ...value }),
      _meta: UNTRUSTED_META,
    },
  ],
});

/** `head` is our text; the lines are untrusted. */
export const quotedContents = (
  uri: URL,
  { head, what, lines }: { head: string; what: string; lines: readonly string[] },
): ReadResourceResult => ({
  contents: [
    {
      uri: uri.href,
      mimeType: 'text/plain',
      text: `${head}\n${UNTRUSTED_NOTICE}\n${quoteUntrusted(what, lines)}\n`,
      _meta: UNTRUSTED_META,
    },
  ],
});
