// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "command/command.h"

// The commands about GpuJobs that exist. Each is in the file of its name, those that only write in change.cc.
namespace gpupool::jobs {

std::unique_ptr<command::Command> make_list();
std::unique_ptr<command::Command> make_queue();
std::unique_ptr<command::Command> make_describe();
std::unique_ptr<command::Command> make_wait();
std::unique_ptr<command::Command> make_cancel();
std::unique_ptr<command::Command> make_suspend();
std::unique_ptr<command::Command> make_resume();
std::unique_ptr<command::Command> make_retry();
std::unique_ptr<command::Command> make_priority();
std::unique_ptr<command::Command> make_shell();
std::unique_ptr<command::Command> make_why();

}  // namespace gpupool::jobs
