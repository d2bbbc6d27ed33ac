"""The fork server: one process per DAG version and Python environment, one forked child per attempt.

Protocol: JSON lines on stdin and stdout, with the agent at the other end.

    → {"op":"load","socket","dags_folder","dag_id","fileloc","source":{"path","module","text"},"bundle","env"}
    ← {"event":"ready","preloaded":true,"seconds":0.1}     or {"event":"failed","error","traceback"}
    → {"op":"fork","attempt","key","takes"?}               ← {"event":"forked","attempt","pid","taken"}
    → {"op":"kill","attempt","signal"}                     ← {"event":"exit","attempt","status","signal","unclean"?}
    → {"op":"load_late","names"}                           ← {"event":"unclean","reason"}
                                                           ← {"event":"spare","key"}

States: new → loading → ready | failed. In `failed` a fork is answered by an exit at once, never by silence.

What keeps attempts apart and leaves nothing behind:
- The process has one thread when it forks, always: a fork copies only the calling thread, so locks that another one holds
  would stay held for ever. A DAG file that starts threads makes the server start anew without loading the file; then every
  child loads it for itself. Threads of libraries that end them before a fork, as numpy's does, are none of these.
- A DAG file that reads variables or connections at its top is loaded by every child, too: the server has no secrets. The
  libraries that it imports are loaded once all the same.
- A child is the leader of a session and a group of its own. SIGTERM goes to the child alone, so that its on_kill can
  end what it started in good order; SIGKILL goes to the whole group.
- When a child is gone, the rest of its group is killed, and so are processes that left the group: orphans become
  children of the nearest sub-reaper, first of the attempt, then of the server, which kills those it does not know.
- Children die with the server (PR_SET_PDEATHSIG), and the server ends when stdin does or when the agent dies.

- What an attempt leaves behind is looked for when it has ended (leftovers.py), and told with its exit. In a worker that
  keeps attempts apart each has folders (own_places.py) and a domain of its own (apart.py).
- Secrets reach a child with its job, from the agent; the server is never given one. Server and children are closed to
  other processes of their user (PR_SET_DUMPABLE): /proc/<pid>/mem, environ, fd and ptrace are refused. The agent knows
  them by `--mark` in their arguments, since it cannot read their environment either unless it is root.
- A child holds no descriptor of the server. Its standard streams are pipes that the server reads (outputs.py).

With `--one-attempt`, as in a container for one attempt, it loads what every version needs before it is told which, and then
makes nothing ready for others: no warming up, no spare child.

One child is kept ready ahead of the attempts: the agent is told its key (`spare`), by which it says hello before there is an
attempt, so that forking, connecting and the first touch of the usual pages happen while nobody waits. An attempt
takes it by that key (`takes`), and its job goes from the agent straight to the child; the order for it is written before the
job is, so that a child which ends is known to have been taken or to have run nothing. A burst of attempts finds no spare and
is forked as it comes: 3.7 ms of CPU in the child (600 page faults), 1.1 ms here (140 faults, because a fork takes the pages
from both). What that is made of, and what keeps it small, is in preload.py.
"""
