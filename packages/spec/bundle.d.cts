/** See bundle.cjs: loaded before TypeScript can be, so its types are here. */
export const BUNDLES: string;
export const CURRENT: string;
export const INSTALLED: string;
export const PROGRAMS: readonly string[];
export const ROOT: string;
export function freshBundle(): string | undefined;
export function preferBundle(): void;
export function stampOf(path: string): string;
