import { badValue, quote } from './config-error.ts';
import type { ConfigProblem } from './config-error.ts';
import { configKeys, definitionOf, flagOf, variableOf } from './keys.ts';
import type { ConfigKey } from './keys.ts';
import { nearestVariable } from './nearest.ts';
import type { Setting, SourceReading } from './sources.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Contains the path of the configuration file if `--config` is not given. */
export const CONFIG_FILE_VARIABLE = 'SVC_CONFIG';

/** Variables with the same prefix that other programs of the product read. */
const OTHER_PROGRAMS = new Set([
  CONFIG_FILE_VARIABLE,
  'SVC_TOKEN',
  'SVC_SERVER_URL',
  'SVC_MCP_TRANSPORT',
  'SVC_MCP_LISTEN',
  'SVC_AGENT_TOKEN',
  'SVC_AGENT_MAX_INTERPRETER_GROWTH_MB',
]);

const keyOfVariable = new Map<string, ConfigKey>(configKeys.map((key) => [variableOf(key), key]));

/**
 * An empty variable counts as not set, because `${REDIS_URL:-}` in a compose file must not override the configuration
 * file.
 */
export function readEnvironment(env: Environment): SourceReading {
  const settings: Setting[] = [];
  const problems: ConfigProblem[] = [];
  const warnings: string[] = [];
  for (const [variable, text] of Object.entries(env)) {
    if (!variable.startsWith('SVC_') || text === undefined || text.trim() === '') {
      continue;
    }
    const key = keyOfVariable.get(variable);
    if (key !== undefined) {
      const setting = settingOf({ key, variable, text });
      if ('raw' in setting) {
        settings.push(setting);
      } else {
        problems.push(setting);
      }
    } else if (!isKnownElsewhere(variable) && !isServiceLink(variable, text)) {
      // An unknown variable is not an error. Other programs may set variables, and an upgrade must not stop a server
      // from starting.
      warnings.push(`unknown variable ${quote(variable)} is ignored; did you mean ${nearestVariable(variable)}?`);
    }
  }
  return { settings, problems, warnings };
}

function settingOf(options: { key: ConfigKey; variable: string; text: string }): Setting | ConfigProblem {
  const { key, variable, text } = options;
  const definition = definitionOf(key);
  if (definition.type === 'list' && definition.fromEnvironment === true) {
    return { key, raw: { kind: 'list', items: text.split(',') }, source: 'env', origin: variable };
  }
  if (definition.type === 'list' || definition.type === 'map') {
    const how = definition.type === 'list' ? `${flagOf(key)} a,b` : `${flagOf(key)} name=value`;
    const allowed = `a ${definition.type} from the configuration file or from flags (${how}), not from the environment`;
    return badValue({ key, value: text, allowed, origin: variable });
  }
  return { key, raw: { kind: 'text', text }, source: 'env', origin: variable };
}

function isKnownElsewhere(variable: string): boolean {
  // External secrets reach the task pod under this prefix, with names that the provider chooses.
  return OTHER_PROGRAMS.has(variable) || variable.startsWith('SVC_SECRETS_');
}

/**
 * True for variables that Kubernetes sets in every pod for a service named svc. The value is checked as well, so that a
 * manual SVC_SERVER_PORT=8080 is still reported.
 */
function isServiceLink(variable: string, text: string): boolean {
  if (/^SVC_(\w+_)?SERVICE_(HOST|PORT(_\w+)?)$/.test(variable)) {
    return true;
  }
  if (/^SVC_(\w+_)?PORT_\d+_(TCP|UDP|SCTP)_(ADDR|PORT|PROTO)$/.test(variable)) {
    return true;
  }
  return /^SVC_(\w+_)?PORT(_\d+_(TCP|UDP|SCTP))?$/.test(variable) && /^(tcp|udp|sctp):\/\//.test(text);
}
