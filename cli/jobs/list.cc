// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "command/keep_trying.h"
#include "command/keeper.h"
#include "jobs/commands.h"
#include "jobs/list_finished.h"
#include "jobs/list_watch.h"
#include "objects/job_row.h"
#include "objects/output.h"
#include "objects/phase.h"
#include "screen/plain_text.h"

namespace gpupool::jobs {
namespace {

using objects::JobRow;

nlohmann::ordered_json json_of_row(const JobRow& job) {
  return {{"namespace", job.ns},      {"name", job.name},         {"phase", job.phase},
          {"pool", job.pool},         {"gpus", job.gpus},         {"nodes", job.nodes},
          {"reason", job.reason},     {"attempts", job.attempts}, {"master", job.master},
          {"priority", job.priority}, {"created", job.created}};
}

class List final : public command::Command {
 public:
  Manual manual() const override {
    return {.name = "list",
            .summary = "List jobs",
            .text =
                "Jobs of one namespace, or of all with -A, in order of their names. With --watch a line for "
                "each change\n"
                "follows, until Ctrl-C. With --finished, attempts whose logs the keeper of logs has; "
                "`kubectl gpupool logs JOB --uid UID` shows them.",
            .example =
                "  kubectl gpupool list\n"
                "  kubectl gpupool list -A --phase queued,running\n"
                "  kubectl gpupool list --watch\n"
                "  kubectl gpupool list --finished\n"
                "  kubectl gpupool list -l team=vision -o json"};
  }

  void add_flags(command::Flags& flags) override {
    flags.yes("-A,--all-namespaces", all_namespaces_, "Jobs of all namespaces");
    flags.text("-l,--selector", selector_, "LABELS",
               "Only jobs with these labels, such as team=vision,stage!=test");
    flags.text("--phase", phases_, "PHASE[,PHASE...]", "Only jobs in these phases, such as queued,running");
    flags.text("--pool", pool_, "POOL", "Only jobs of this pool", command::Offer::kPools);
    flags.yes("-w,--watch", watch_, "Go on with a line for each change, until Ctrl-C");
    flags.yes("--finished", finished_,
              "Attempts that have ended, also of jobs that were deleted, from the keeper of logs");
    command::add_keeper_flag(flags, keeper_);
    objects::add_output_flag(flags, output_, {"json", "yaml", "wide", "name"});
  }

  base::Result<int> run(command::Context& context) override {
    auto phases = chosen_phases();
    if (!phases) return tl::unexpected<base::Error>(phases.error());
    if (watch_ && !output_.empty() && output_ != "wide")
      return base::fail(base::ErrorCode::kInvalidArgument, "--watch cannot be used with -o " + output_);
    if (finished_) {
      if (watch_ || all_namespaces_ || !selector_.empty() || !phases_.empty())
        return base::fail(
            base::ErrorCode::kInvalidArgument,
            "--finished goes with --pool and -o alone: the keeper knows no labels and phases, and is "
            "asked for one namespace");
      return list_finished({pool_, output_, keeper_}, context);
    }
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    const std::string ns = all_namespaces_ ? "" : (*session)->ns();
    const auto wanted = [&](const JobRow& job) {
      const bool in_phase =
          phases->empty() || std::find(phases->begin(), phases->end(), job.phase) != phases->end();
      return in_phase && (pool_.empty() || job.pool == pool_);
    };
    if (watch_) return watch(**session, ns, ListWatch(wanted, shape()), context);
    auto jobs = objects::list_jobs((*session)->client(), ns, selector_, context.stop);
    if (!jobs) return tl::unexpected<base::Error>(jobs.error());
    std::erase_if(*jobs, [&](const JobRow& job) { return !wanted(job); });
    print(std::move(*jobs), ns, context);
    return command::exit_code::kGood;
  }

 private:
  ListShape shape() const { return {all_namespaces_, output_ == "wide"}; }

  base::Result<int> watch(command::Session& session, const std::string& ns, ListWatch list,
                          command::Context& context) const {
    const auto print = [&](const std::string& lines) { context.out << lines << std::flush; };
    const auto once = [&](const std::function<void()>& answered) {
      return objects::watch_jobs(
                 session.client(), ns, selector_,
                 [&](std::vector<JobRow> jobs) {
                   answered();
                   print(list.on_list(std::move(jobs), context.terminal));
                 },
                 [&](JobRow job, bool gone) {
                   print(list.on_change(std::move(job), gone, context.terminal));
                 },
                 context.stop)
          .map([] { return false; });
    };
    const auto end =
        command::keep_trying(session.clock(), once, command::tell_away(context.err), context.stop);
    if (context.stop.stop_requested()) return command::exit_code::kInterrupted;
    return tl::unexpected<base::Error>(end.error());
  }

  base::Result<std::vector<std::string>> chosen_phases() const {
    std::vector<std::string> chosen;
    std::size_t begin = 0;
    while (begin < phases_.size()) {
      const auto end = std::min(phases_.find(',', begin), phases_.size());
      const std::string word = phases_.substr(begin, end - begin);
      begin = end + 1;
      const auto& all = objects::all_phases();
      const auto same = [&](const std::string& phase) {
        return std::equal(phase.begin(), phase.end(), word.begin(), word.end(), [](char a, char b) {
          return a == b || (a >= 'A' && a <= 'Z' && a - 'A' + 'a' == b);
        });
      };
      const auto found = std::find_if(all.begin(), all.end(), same);
      if (found == all.end()) {
        std::string known;
        for (const auto& phase : all) known += (known.empty() ? "" : ", ") + phase;
        return base::fail(base::ErrorCode::kInvalidArgument,
                          "--phase: \"" + word + "\" is none of: " + known);
      }
      chosen.push_back(*found);
    }
    return chosen;
  }

  void print(std::vector<JobRow> jobs, const std::string& ns, command::Context& context) const {
    if (output_ == "json" || output_ == "yaml") {
      auto items = nlohmann::ordered_json::array();
      for (const JobRow& job : jobs) items.push_back(json_of_row(job));
      const nlohmann::ordered_json list{
          {"apiVersion", objects::kOutputVersion}, {"kind", "JobList"}, {"items", std::move(items)}};
      context.out << objects::printed(list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace),
                                      output_);
    } else if (output_ == "name") {
      for (const JobRow& job : jobs)
        context.out << "gpujob.gpupool.dev/" << screen::plain_text(job.name) << "\n";
    } else if (jobs.empty()) {
      context.err << "No jobs found" << (ns.empty() ? "" : " in " + ns + " namespace") << ".\n";
    } else {
      context.out << job_table(std::move(jobs), shape()).text(context.terminal);
    }
  }

  bool all_namespaces_ = false;
  std::string selector_;
  std::string phases_;
  std::string pool_;
  std::string output_;
  bool watch_ = false;
  bool finished_ = false;
  std::string keeper_;
};

}  // namespace

std::unique_ptr<command::Command> make_list() { return std::make_unique<List>(); }

}  // namespace gpupool::jobs
