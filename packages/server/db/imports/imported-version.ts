/**
 * Runs that were imported from an Airflow: how they are recognised, and the refusal of actions that they do not
 * support.
 */

/** The version of imported runs. It has tasks and no code. Registered versions begin with 1. */
export const IMPORTED_VERSION = 0;

export const isImported = (run: { version_number: number }): boolean => run.version_number === IMPORTED_VERSION;

/** For actions that would run an imported run again or change its end. The API answers 409 with this text. */
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
