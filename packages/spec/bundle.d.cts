/** Types of bundle.cjs, which is loaded before Node can load TypeScript. */
export const BUNDLES: string;
export const CURRENT: string;
export const INSTALLED: string;
export const PROGRAMS: readonly string[];
export const ROOT: string;
export function freshBundle(): string | undefined;
export function preferBundle(): void;
export function stampOf(path: string): string;
