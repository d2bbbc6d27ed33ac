/** Runs that were imported from an Airflow: what they are known by, and how what cannot be done to them is refused. */

/** The version such runs are bound to. It has tasks and no code; those that are registered here begin with 1. */
export const IMPORTED_VERSION = 0;

export const isImported = (run: { version_number: number }): boolean => run.version_number === IMPORTED_VERSION;

/** It would have to run again, or to have ended otherwise; the API answers 409 with this text. */
export class ImportedRunError extends Error {
  constructor(runs: readonly string[]) {
    const named = runs.slice(0, NAMED).join(', ') + (runs.length > NAMED ? ` and ${runs.length - NAMED} more` : '');
    super(
      `${runs.length === 1 ? `run ${named} was` : `the runs ${named} were`} imported from Airflow and can only be read or deleted: ` +
        'choose runs of this control plane, or trigger a new run',
    );
    this.name = 'ImportedRunError';
  }
}

const NAMED = 3;
