/**
 * What a test run has started ends with it, also when the run was stopped with SIGKILL and could not clean up: a shell
 * of its own waits at a pipe that the kernel closes with this process, whatever way it goes.
 */
import { spawn } from 'node:child_process';
import type { Socket } from 'node:net';

/** Ends the processes, then every Postgres whose data lies in the directory, then removes the directory. */
const CLEAN_UP = `
  directory=$1; shift
  cat > /dev/null
  runs() { case "$(ps -o stat= -p "$1")" in ''|Z*) return 1 ;; esac; }
  for pid; do kill -TERM "$pid"; done
  for pid; do
    for wait in $(seq 200); do runs "$pid" || continue 2; sleep 0.1; done
    kill -KILL "$pid"
  done
  [ -n "$directory" ] || exit 0
  for file in $(find "$directory" -name postmaster.pid); do
    pid=$(head -n 1 "$file")
    case "$(ps -ww -o args= -p "$pid")" in *"$directory"*) ;; *) continue ;; esac
    kill -QUIT "$pid"; kill -CONT "$pid"
    while runs "$pid"; do sleep 0.05; done
  done
  rm -rf "$directory"`;

/** Call what it gives when the test has cleaned up itself. */
export function endsWithThisProcess(what: { directory?: string; pids?: readonly number[] }): () => void {
  const { directory = '', pids = [] } = what;
  const watcher = spawn('sh', ['-c', CLEAN_UP, 'sh', directory, ...pids.map(String)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true, // Ctrl-C in a terminal reaches the whole process group, and this one has to stay for it
  });
  watcher.on('error', () => {}); // without a shell nothing is watched, and tests are as good
  watcher.stdin.on('error', () => {});
  watcher.unref();
  (watcher.stdin as Socket).unref();
  return () => void watcher.kill('SIGKILL');
}
