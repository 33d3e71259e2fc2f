// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "api/core/pod.h"
#include "api/v1alpha1/names.h"
#include "jobs/commands.h"
#include "jobs/worker_pods.h"
#include "objects/job.h"
#include "screen/plain_text.h"

namespace gpupool::jobs {
namespace {

// Where the operator puts the launcher; `env` runs a command with the variables of the rank's own command.
constexpr char kLauncher[] = "/gpupool/gpupool-launch";
constexpr std::int64_t kMostRanks = 999;

// The first container of the template is the worker.
std::string worker_container(const std::string& job) {
  static const nlohmann::json::json_pointer kName("/spec/template/spec/containers/0/name");
  const auto seen = nlohmann::json::parse(job);
  return seen.contains(kName) && seen[kName].is_string() ? seen[kName].get<std::string>() : "";
}

// Becomes kubectl; returns only if that fails.
base::Error become(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words)
    arguments.push_back(const_cast<char*>(word.c_str()));  // NOLINT: execvp's type
  arguments.push_back(nullptr);
  // This program blocks and ignores signals, and the next one would inherit that.
  sigset_t none;
  sigemptyset(&none);
  pthread_sigmask(SIG_SETMASK, &none, nullptr);
  (void)std::signal(SIGPIPE, SIG_DFL);
  execvp(arguments.front(), arguments.data());
  return {base::ErrorCode::kIo,
          "cannot run kubectl: " + std::error_code(errno, std::generic_category()).message()};
}

class Shell final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "shell",
            .summary = "Open a shell in a worker, with the variables of its rank",
            .text =
                "RANK, WORLD_SIZE, MASTER_ADDR and all other variables of the worker's own command are set. "
                "Words after --\n"
                "are run instead of a shell. It uses kubectl exec.",
            .example =
                "  kubectl gpupool shell resnet --rank 2\n"
                "  kubectl gpupool shell resnet -- nvidia-smi",
            .trailing = "COMMAND [ARG...]"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("JOB", job_, "Name of the job", command::Offer::kJobs);
    flags.number("--rank", rank_, "N", "Which worker; default 0", 0, kMostRanks);
  }

  base::Result<int> run(command::Context& context) override {
    if (const auto name = objects::job_name(job_); !name) return tl::unexpected<base::Error>(name.error());
    const auto opened = context.session();
    if (!opened) return tl::unexpected<base::Error>(opened.error());
    const auto read = objects::read_job(**opened, job_, context.stop);
    if (!read) return tl::unexpected<base::Error>(read.error());
    const auto pod = running_worker(**opened, read->job, context.stop);
    if (!pod) return tl::unexpected<base::Error>(pod.error());
    context.out.flush();
    return tl::unexpected<base::Error>(
        become(words_for(*pod, worker_container(read->text), (*opened)->ns(), context)));
  }

 private:
  base::Result<std::string> running_worker(command::Session& session, const api::GpuJob& job,
                                           const std::stop_token& stop) const {
    const std::int64_t rank = rank_.value_or(0);
    const std::string name = job.metadata.name;
    if (rank >= api::worker_count(job.spec)) {
      return base::fail(base::ErrorCode::kInvalidArgument, "--rank: " + name + " has " +
                                                               std::to_string(api::worker_count(job.spec)) +
                                                               " workers, from rank 0");
    }
    if (!job.status.lease) {
      return base::fail(base::ErrorCode::kConflict,
                        name + " has no workers: it is " + objects::short_state(job));
    }
    const auto pods =
        kube::list<api::Pod>(session.client(), session.ns(),
                             {.label_selector = std::string(api::kLease) + "=" + job.status.lease->id}, stop);
    if (!pods) return tl::unexpected<base::Error>(pods.error());
    for (const api::Pod& pod : *pods) {
      if (rank_of_worker(pod) == rank && !pod.metadata.deleting() && pod.status.phase == "Running")
        return pod.metadata.name;
    }
    return base::fail(base::ErrorCode::kConflict, "rank " + std::to_string(rank) + " of " + name +
                                                      " does not run now: " + objects::short_state(job));
  }

  std::vector<std::string> words_for(const std::string& pod, const std::string& container,
                                     const std::string& ns, const command::Context& context) const {
    std::vector<std::string> words{"kubectl"};
    const auto& general = context.general;
    for (const auto& [flag, value] : {std::pair("--kubeconfig", &general.kubeconfig),
                                      {"--context", &general.context},
                                      {"--as", &general.as}}) {
      if (!value->empty()) words.insert(words.end(), {flag, *value});
    }
    for (const std::string& group : general.as_groups) words.insert(words.end(), {"--as-group", group});
    words.insert(words.end(), {"--namespace", ns, "exec", isatty(STDIN_FILENO) == 1 ? "-it" : "-i", pod});
    if (!container.empty()) words.insert(words.end(), {"--container", container});
    words.insert(words.end(), {"--", kLauncher, "env", "--"});
    if (context.trailing.empty()) {
      words.insert(words.end(), {"sh", "-c", "command -v bash >/dev/null && exec bash || exec sh"});
    } else {
      words.insert(words.end(), context.trailing.begin(), context.trailing.end());
    }
    return words;
  }

  std::string job_;
  std::optional<std::int64_t> rank_;
};

}  // namespace

std::unique_ptr<command::Command> make_shell() { return std::make_unique<Shell>(); }

}  // namespace gpupool::jobs
