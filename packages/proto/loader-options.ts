/** The form of messages in JavaScript. The generated types and the loader must agree, so both read it from here. */
export const LOADER_OPTIONS = {
  keepCase: true,
  defaults: true,
  oneofs: true,
  /** Offsets in a log stay far below 2^53. */
  longs: Number,
} as const;
