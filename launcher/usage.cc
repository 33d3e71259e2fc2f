#include "launcher/usage.h"

namespace gpupool::launcher {

std::string_view help_text() {
  return R"(gpupool-launch: runs a worker's command exactly once and leaves its result for gpupool.

Usage:
  gpupool-launch run [flags] -- COMMAND [ARGS...]
  gpupool-launch install DIR      copy this program to DIR/gpupool-launch
  gpupool-launch --help | --version

Flags of run, each with the environment variable that stands for it (a flag wins):
  --state-dir DIR         GPUPOOL_STATE_DIR        where mark and result live (/gpupool)
  --termination-log FILE  GPUPOOL_TERMINATION_LOG  where the result goes too (/dev/termination-log)
  --job NAME              GPUPOOL_JOB              passed to the command
  --attempt N             GPUPOOL_ATTEMPT          passed to the command and into the result (0)
  --rank N                GPUPOOL_RANK             this worker's rank
  --pod-name NAME         GPUPOOL_POD_NAME         without --rank: the rank is the number after the last '-'
  --nnodes N              GPUPOOL_NNODES           number of workers (1)
  --nproc N               GPUPOOL_NPROC            processes (GPUs) per worker (1)
  --master-addr HOST      GPUPOOL_MASTER_ADDR      name or address of rank 0 (localhost when alone)
  --master-port PORT      GPUPOOL_MASTER_PORT      port of rank 0 (29500)
  --master-timeout S      GPUPOOL_MASTER_TIMEOUT   seconds that ranks above 0 wait for that port to accept
                                                   a connection; 0: do not wait (600)
  --hold                  GPUPOOL_HOLD=1           when started again: repeat the result, then wait for SIGTERM

The command gets RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT, GPUPOOL_JOB, GPUPOOL_ATTEMPT and, for
torchrun, PET_NNODES, PET_NODE_RANK, PET_NPROC_PER_NODE, PET_MASTER_ADDR, PET_MASTER_PORT.
Signals go to the command's whole process group. After a stop signal, processes that the command leaves behind may
use the rest of the grace period; otherwise they are killed 250 ms after its end.

Exit status: the command's own, or 128 + the signal that killed it; 1 an earlier start was interrupted;
2 bad arguments; 124 the master did not come; 125 the launcher itself failed; 126 the command cannot be executed;
127 the command was not found.
)";
}

std::string_view version_text() { return "gpupool-launch " GPUPOOL_VERSION "\n"; }

}  // namespace gpupool::launcher
