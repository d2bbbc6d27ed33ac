// The executors that `executor.type` names.
import type { BootProblem } from './boot-report.ts';
import type { Config } from './keys.ts';

export type ExecutorName = 'orchestrator' | 'subprocess' | 'remote';

/** Returns the names, the default executor first. The pattern of the key allows no other names. */
export const executorNames = ({ executor }: Pick<Config, 'executor'>): readonly ExecutorName[] =>
  executor.type.split(',').map((name) => name.trim() as ExecutorName);

export const hasExecutor = (config: Pick<Config, 'executor'>, name: ExecutorName): boolean =>
  executorNames(config).includes(name);

export function checkExecutors(config: Config): BootProblem[] {
  const names = executorNames(config);
  const problems: BootProblem[] = [];
  if (names.length === 1 && names[0] === 'remote') {
    problems.push({
      key: 'executor.type',
      message:
        'executor.type is remote alone: callbacks of runs and triggers of deferred tasks need an executor of the control plane itself; set SVC_EXECUTOR_TYPE=remote,subprocess (or remote,orchestrator)',
    });
  }
  if (config.executor.remoteQueues.length > 0 && !names.includes('remote')) {
    problems.push({
      key: 'executor.remote_queues',
      message: `executor.remote_queues is set, but executor.type (${config.executor.type}) does not name remote; set SVC_EXECUTOR_TYPE=${config.executor.type},remote`,
    });
  }
  return problems;
}
