/**
 * Variables and connections that a DAG file reads while it is compiled. The caller of the compiler answers with the
 * values. Each value is recorded by its name and fingerprint, so that a change of it compiles the file again.
 */
export type ValueKind = 'variable' | 'connection';

export type AskedValue = {
  kind: ValueKind;
  name: string;
  /** The source of the file writes the name out, which `auth.secret_scoping=enforce` requires. */
  isDeclared: boolean;
};

export type ValueRead = {
  kind: ValueKind;
  name: string;
  /** A keyed hash of the value, or of its absence. Only the installation that made it can compare it. */
  fingerprint: string;
};

export type AnsweredValue =
  | {
      /** The value of a variable, or a connection in Airflow's JSON form or as a URI. Null if there is none. */
      text: string | null;
      /** Undefined for a value whose changes cannot be noticed, for example one from a file: it is not recorded. */
      fingerprint: string | undefined;
      /** Parts of the text that must not appear in a log or a version. */
      masks: readonly string[];
      /** A warning for the author. */
      note?: string | undefined;
    }
  | { refusal: string; instead: string };

export type AnswerValue = (asked: AskedValue) => Promise<AnsweredValue>;
