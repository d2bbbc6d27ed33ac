import { join, resolve } from 'node:path';

export const ROOT = resolve(import.meta.dirname, '..', '..', '..', '..');
/** Kept for whoever wants to look at what a person would have seen. */
export const SCREENSHOTS = join(ROOT, 'test-output', 'ui');
