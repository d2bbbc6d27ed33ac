import type { LogCode } from '@svc/spec/log-codes/log-codes.ts';

/** Returns a warning or an error with its stable code in front: packages/spec/log-codes. */
export const coded = (code: LogCode, text: string): string => `${code} ${text}`;
