/**
 * Announces the current command to the control plane with its first request, for the audit log. Secrets are masked
 * here.
 */
import { hostname } from 'node:os';
import type { Command } from 'commander';
import { COMMAND_HEADER, encodeCommand } from '@svc/spec/announced-command.ts';
import { maskCredentials } from '@svc/spec/masking/credential-patterns.ts';
import { MASK } from '@svc/spec/masking/rules.ts';
import { isSensitiveName } from '@svc/spec/sensitive-names.ts';
import { userName } from '../user-name.ts';

export type CommandAnnouncement = {
  begin(command: Command): void;
  /** Returns headers for the next request. Only the first request gets the announcement. */
  take(): Record<string, string>;
};

/**
 * Names of Airflow's functions for commands that have another name here. Other commands use their own name:
 * `variables_set`.
 */
const AIRFLOW_FUNCTIONS: Readonly<Record<string, string>> = {
  backfill_create: 'create_backfill',
  dags_delete: 'dag_delete',
  dags_list: 'dag_list_dags',
  dags_pause: 'dag_pause',
  dags_show: 'dag_details',
  dags_tasks: 'task_list',
  dags_unpause: 'dag_unpause',
  runs_clear: 'task_clear',
  runs_list: 'dag_list_dag_runs',
  runs_trigger: 'dag_trigger',
};

/** Options that may contain a password although their names do not say so. */
const MASKED_OPTIONS = new Set(['conf', 'extra', 'param', 'uri']);

export function createCommandAnnouncement(): CommandAnnouncement {
  let header: string | undefined;
  return {
    begin(command) {
      header = encodeCommand(describe(command));
    },
    take() {
      if (header === undefined) return {};
      const headers = { [COMMAND_HEADER]: header };
      header = undefined;
      return headers;
    },
  };
}

function describe(command: Command) {
  const path = pathOf(command);
  const name = path.slice(1).join('_').replaceAll('-', '_');
  const words = [...path, ...positionals(command), ...options(command)];
  const dagId = dagIdOf(command);
  return {
    event: `cli_${AIRFLOW_FUNCTIONS[name] ?? name}`,
    hostName: hostname(),
    systemUser: userName(),
    fullCommand: `[${words.map(pythonText).join(', ')}]`,
    ...(dagId !== undefined && { dagId }),
  };
}

function pathOf(command: Command): string[] {
  return [...(command.parent ? pathOf(command.parent) : []), command.name()];
}

function positionals({ args, registeredArguments }: Command): string[] {
  const valueAt = registeredArguments.findIndex((argument) => argument.name() === 'value');
  return args.map((text, index) => (index === valueAt ? masked(text) : maskCredentials(text)));
}

/** Returns options as they were parsed, so that no spelling of an option reveals its value. */
function options(command: Command): string[] {
  return command.options.flatMap((option) => {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) !== 'cli') return [];
    const flag = option.long ?? option.short ?? name;
    const value: unknown = command.getOptionValue(name);
    if (value === true || value === false) return option.negate === !value ? [flag] : [];
    const isSecret = isSensitiveName(name) || MASKED_OPTIONS.has(name);
    const texts = (Array.isArray(value) ? value : [value]).map((item) =>
      typeof item === 'object' ? JSON.stringify(item) : String(item),
    );
    return texts.flatMap((text) => [flag, isSecret ? masked(text) : maskCredentials(text)]);
  });
}

/** `-` means standard input. */
const masked = (text: string): string => (text === '-' ? text : MASK);

/** Returns the DAG id of a command for one DAG. */
function dagIdOf({ args, registeredArguments }: Command): string | undefined {
  const [argument] = registeredArguments;
  const isOne = argument?.name() === 'dag-id' || (argument?.name() === 'dag-ids' && args.length === 1);
  return isOne ? args[0] : undefined;
}

function pythonText(text: string): string {
  const escaped = text.replaceAll(/['\\]/g, (character) => `\\${character}`);
  return `'${escaped.replaceAll(/\p{Cc}/gu, (control) => `\\x${control.charCodeAt(0).toString(16).padStart(2, '0')}`)}'`;
}
