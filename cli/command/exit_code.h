// SPDX-License-Identifier: Apache-2.0
#pragma once

// Exit codes of kubectl-gpupool (docs/cli.md). A command that waits for a job ends with the job's own exit
// code.
namespace gpupool::command::exit_code {

inline constexpr int kGood = 0;
inline constexpr int kError = 1;
inline constexpr int kUsage = 2;            // wrong flags or arguments
inline constexpr int kDeadline = 124;       // the time of the job, or that of waiting for it, is over
inline constexpr int kNotTheCommand = 125;  // the job failed for a reason that is not its command's
inline constexpr int kInterrupted = 130;    // Ctrl-C

}  // namespace gpupool::command::exit_code
