/** The forms in which resources are read. */
import type { ReadResourceResult } from '@modelcontextprotocol/server';
import { UNTRUSTED_NOTICE, quoteUntrusted } from '../text/untrusted.ts';

/** For programs that show resources to models: they need not read the text to know. */
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

/** `head` is ours; the lines are not. */
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
