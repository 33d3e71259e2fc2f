// SPDX-License-Identifier: Apache-2.0
#include "launcher/usage.h"

namespace gpupool::launcher {

std::string_view help_text() {
  return R"(gpupool-launch: runs a worker's command exactly once and leaves its result for gpupool.

Usage:
  gpupool-launch run [flags] -- COMMAND [ARGS...]
  gpupool-launch env [--state-dir DIR] [COMMAND [ARGS...]]
                                  run a command with the variables that the worker's command has, or print them
  gpupool-launch install DIR      copy this program to DIR/gpupool-launch
  gpupool-launch --help | --version

Flags of run, as --flag value or --flag=value; the environment sets none of them, but for $GPUPOOL_KEEPER_TOKEN, which
counts with --keeper alone and is not passed on:
  --state-dir DIR         where mark and result live (/gpupool)
  --termination-log FILE  where the result goes too (/dev/termination-log)
  --job NAME              passed to the command
  --attempt N             passed to the command and into the result (0)
  --rank N                this worker's rank
  --pod-name NAME         without --rank: the rank is the number after the last '-'
  --nnodes N              number of workers (1)
  --nproc N               processes (GPUs) per worker (1)
  --master-addr HOST      name or address of rank 0 (localhost when alone)
  --master-port PORT      port of rank 0 (29500)
  --master-timeout S      seconds that ranks above 0 wait for that port to accept a connection; 0: do not wait (600)
  --hold                  when started again: repeat the result, then wait for SIGTERM, or for as long as has
                          passed since the result was stored, a day at most
  --hold-seconds S        wait at least so long with --hold, 1 to 86400 (10)
  --result-bytes N        the most bytes of a result, 128 to 3072; output, message and reason are cut (3072)
  --metrics NAMES         names of numbers, with commas between them, that rank 0 finds in the command's output and
                          in the named pipe $GPUPOOL_METRICS (lines of JSON), for the result
  --metric-step NAME      the number that is the step of the others (step)
  --live-steps STEPS      ascending steps, with commas between them; rank 0 keeps the numbers of --metrics at each, and
                          tells them over TCP to whoever sends the --live-id, while the command runs
  --live-id TEXT          see --live-steps
  --live-port PORT        where rank 0 listens with --live-steps (29499)
  --checkpoint-dir DIR    the command saves its work there, and is told before it is stopped; made if it is missing
  --notice signal|file    when the command gets a stop signal: after $GPUPOOL_NOTICE_FILE has been written, or when a
                          tenth of the grace period is left, at least 10 s (signal)
  --grace-seconds S       from the stop signal to the end of the container (30)
  --resume 0|1            passed to the command: whether an attempt has run before (0)
  --keeper IP:PORT        where what the command prints is sent too; the command never waits for it
  --keeper-key ID         the key that the token for it was made with
  --keeper-id NS/UID/N/POOL  whose output it is: namespace, UID of the job, number of the lease, pool

The command gets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, GPUPOOL_JOB, GPUPOOL_ATTEMPT and, for
torchrun, PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE, PET_MASTER_ADDR, PET_MASTER_PORT. With --checkpoint-dir it
also gets GPUPOOL_CHECKPOINT_DIR, GPUPOOL_RESUME, GPUPOOL_NOTICE_FILE, GPUPOOL_GRACE_SECONDS and GPUPOOL_REPORT_FILE:
what it writes into the last one comes into the result.
Signals go to the command's whole process group, a first stop signal as --notice says, a second one at once. After a stop signal, processes that the command leaves behind may
use the rest of the grace period; otherwise they are killed 1 s after its end.

Exit status: the command's own, or 128 + the signal that killed it; 1 an earlier start was interrupted;
2 bad arguments; 124 the master did not come; 125 the launcher itself failed; 126 the command cannot be executed;
127 the command was not found.
)";
}

std::string_view version_text() { return "gpupool-launch " GPUPOOL_VERSION "\n"; }

}  // namespace gpupool::launcher
