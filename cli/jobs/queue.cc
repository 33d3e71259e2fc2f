// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_pool.h"
#include "base/rfc3339.h"
#include "jobs/commands.h"
#include "jobs/queue_turns.h"
#include "objects/job_row.h"
#include "objects/output.h"
#include "planning/job/line_entry.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

using objects::JobRow;

bool waits(const JobRow& job) {
  return job.phase.empty() || job.phase == api::phase::kQueued || job.phase == api::phase::kInvalid;
}

// False for those that wait for something other than nodes: they have no place in the line.
bool in_line(const JobRow& job) {
  return job.phase == api::phase::kQueued && !planning::keeps_out_of_line(job.reason);
}

// The operator's order; jobs of one second, whose order only it knows, by name.
bool before(const JobRow& a, const JobRow& b) {
  return std::tuple(!in_line(a), -a.priority, a.created, a.ns, a.name) <
         std::tuple(!in_line(b), -b.priority, b.created, b.ns, b.name);
}

struct Line {
  std::vector<JobRow> jobs;         // in order; those in line first
  std::optional<QueueTurns> turns;  // of a pool with spec.queue
  bool whole = true;                // false: the caller may not list the jobs of all namespaces
};

base::Result<Line> read_line(command::Session& session, const std::string& pool,
                             const std::stop_token& stop) {
  Line line;
  auto jobs = objects::list_jobs(session.client(), "", "", stop);
  if (!jobs && jobs.error().code == base::ErrorCode::kForbidden) {
    line.whole = false;
    jobs = objects::list_jobs(session.client(), session.ns(), "", stop);
  }
  if (!jobs) return tl::unexpected<base::Error>(jobs.error());
  for (JobRow& job : *jobs) {
    if (job.pool == pool && waits(job)) line.jobs.push_back(std::move(job));
  }
  std::sort(line.jobs.begin(), line.jobs.end(), before);
  return line;
}

// The jobs whose place is told come first.
void order_by_turns(Line& line) {
  const auto place = [&](const JobRow& job) {
    const auto turn = line.turns->waiting.find({job.ns, job.name});
    const bool told = in_line(job) && turn != line.turns->waiting.end() && turn->second.place > 0;
    return told ? turn->second.place : std::numeric_limits<std::int64_t>::max();
  };
  std::ranges::stable_sort(line.jobs, {}, place);
}

std::string pool_line(const std::string& name, const api::GpuPoolStatus& status) {
  std::string text = "pool " + name + ": " + std::to_string(status.nodes.available) + " of " +
                     std::to_string(status.nodes.total) + " nodes and " +
                     std::to_string(status.gpus.available) + " of " + std::to_string(status.gpus.total) +
                     " GPUs available";
  if (status.slices) {
    text += ", " + std::to_string(status.slices->free) + " of " + std::to_string(status.slices->total) +
            " slices free";
  }
  if (status.nodes.spare > 0)
    text += ", " + std::to_string(status.nodes.spare) + (status.nodes.spare == 1 ? " spare" : " spares");
  return text + ", " + std::to_string(status.jobs.running) + " jobs run, " +
         std::to_string(status.jobs.queued) + " wait\n";
}

// "node gpu-3 is draining until 2026-11-24T18:00:00Z: nlp/bert holds it"
std::string draining_line(const api::DrainingNode& node) {
  auto text = "node " + node.name + " is draining";
  if (node.deadline) text += " until " + base::to_rfc3339(*node.deadline);
  if (!node.waits_for.empty()) text += ": " + node.waits_for + " holds it";
  if (!node.problem.empty()) text += "; " + node.problem;
  return screen::plain_text(text) + "\n";
}

class Queue final : public command::Command {
 public:
  Manual manual() const override {
    return {
        .name = "queue",
        .summary = "Show the queue of a pool, in order",
        .text =
            "Jobs with a higher priority come first, then older ones. In a pool with spec.queue tenants "
            "take\n"
            "turns: then the tenants are shown too, who makes room for whom, and when the first jobs likely\n"
            "start. A job without a number waits for something other than nodes and has no place, or, with\n"
            "spec.queue, is far behind. Without the right to list the jobs of all namespaces, only those of\n"
            "one namespace are shown, without numbers.",
        .example = "  kubectl gpupool queue lab"};
  }

  void add_flags(command::Flags& flags) override {
    flags.argument("POOL", pool_, "Name of the GpuPool", command::Offer::kPools);
    objects::add_output_flag(flags, output_, {"json", "yaml", "name"});
  }

  base::Result<int> run(command::Context& context) override {
    const auto session = context.session();
    if (!session) return tl::unexpected<base::Error>(session.error());
    const auto pool = kube::get<api::GpuPool>((*session)->client(), {.ns = "", .name = pool_}, context.stop);
    if (!pool) return tl::unexpected<base::Error>(pool.error());
    auto line = read_line(**session, pool_, context.stop);
    if (!line) return tl::unexpected<base::Error>(line.error());
    if (pool->spec.queue) {
      auto turns = read_turns(**session, pool_, line->whole ? "" : (*session)->ns(), context.stop);
      if (!turns) return tl::unexpected<base::Error>(turns.error());
      line->turns = *std::move(turns);
      order_by_turns(*line);
    }
    if (output_ == "json" || output_ == "yaml") {
      context.out << objects::printed(json_of(*line, *pool), output_);
    } else if (output_ == "name") {
      for (const JobRow& job : line->jobs)
        context.out << "gpujob.gpupool.dev/" << screen::plain_text(job.name) << "\n";
    } else {
      context.out << pool_line(screen::plain_text(pool_), pool->status);
      for (const auto& node : pool->status.draining) context.out << draining_line(node);
      if (!line->whole) {
        context.err << "Only jobs of namespace " << (*session)->ns()
                    << " are shown: you may not list those of all namespaces.\n";
      }
      if (line->turns)
        context.out << tenants_text(*pool, context.terminal) << claims_text(line->turns->claims);
      if (line->turns && !line->jobs.empty()) {
        context.out << turns_table(*line).text(context.terminal);
        return command::exit_code::kGood;
      }
      if (!line->jobs.empty()) context.out << table_of(*line).text(context.terminal);
    }
    return command::exit_code::kGood;
  }

 private:
  std::string json_of(const Line& line, const api::GpuPool& pool) const {
    auto items = nlohmann::ordered_json::array();
    for (std::size_t i = 0; i < line.jobs.size(); ++i) {
      const JobRow& job = line.jobs[i];
      nlohmann::ordered_json item{{"namespace", job.ns},      {"name", job.name},
                                  {"gpus", job.gpus},         {"reason", job.reason},
                                  {"priority", job.priority}, {"created", job.created}};
      if (line.turns) {
        add_turn(item, turn_of(line, job));
      } else if (line.whole && in_line(job)) {
        item["place"] = i + 1;
      }
      items.push_back(std::move(item));
    }
    nlohmann::ordered_json queue{{"apiVersion", objects::kOutputVersion},
                                 {"kind", "Queue"},
                                 {"pool", pool_},
                                 {"complete", line.whole},
                                 {"items", std::move(items)}};
    if (pool.status.queue) queue["tenants"] = tenants_json(*pool.status.queue);
    if (line.turns) queue["claims"] = claims_json(line.turns->claims);
    return queue.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  }

  static api::JobQueueStatus turn_of(const Line& line, const JobRow& job) {
    const auto turn = line.turns->waiting.find({job.ns, job.name});
    return turn == line.turns->waiting.end() ? api::JobQueueStatus() : turn->second;
  }

  static nlohmann::ordered_json tenants_json(const api::QueueStatus& status) {
    auto tenants = nlohmann::ordered_json::array();
    for (const auto& tenant : status.tenants) {
      tenants.push_back({{"name", tenant.name},
                         {"queued", tenant.queued},
                         {"held", tenant.held},
                         {"averageHeld", tenant.average_held}});
    }
    return tenants;
  }

  // Null: a job that the caller may not see.
  static nlohmann::ordered_json claims_json(const std::vector<OpenClaim>& claims) {
    auto all = nlohmann::ordered_json::array();
    for (const auto& claim : claims) {
      auto awaits = nlohmann::ordered_json::array();
      for (const auto& job : claim.awaits) awaits.push_back(job ? nlohmann::ordered_json(*job) : nullptr);
      nlohmann::ordered_json item{{"job", claim.job}, {"awaits", std::move(awaits)}};
      if (claim.until) item["awaitsUntil"] = base::to_rfc3339(*claim.until);
      all.push_back(std::move(item));
    }
    return all;
  }

  static void add_turn(nlohmann::ordered_json& item, const api::JobQueueStatus& turn) {
    item["tenant"] = turn.tenant;
    if (turn.place > 0) item["place"] = turn.place;
    if (!turn.estimated_start) return;
    item["estimatedStart"] = base::to_rfc3339(*turn.estimated_start);
    item["basis"] = turn.basis.string();
  }

  static screen::Table turns_table(const Line& line) {
    screen::Table table(
        {{"PLACE"}, {"TENANT"}, {"NAMESPACE"}, {"NAME"}, {"GPUS"}, {"REASON", 12}, {"START"}, {"AGE"}});
    for (const auto& job : line.jobs) {
      const auto turn = turn_of(line, job);
      const auto colour = in_line(job) ? screen::Colour::kNone : screen::Colour::kYellow;
      table.add({{place_text(turn)},
                 {turn.tenant},
                 {job.ns},
                 {job.name},
                 {job.gpus},
                 {job.reason, colour},
                 {start_text(turn)},
                 {job.age}});
    }
    return table;
  }

  static screen::Table table_of(const Line& line) {
    screen::Table table(
        {{"PLACE"}, {"NAMESPACE"}, {"NAME"}, {"PRIORITY"}, {"GPUS"}, {"REASON", 12}, {"AGE"}});
    for (std::size_t i = 0; i < line.jobs.size(); ++i) {
      const JobRow& job = line.jobs[i];
      const bool placed = line.whole && in_line(job);
      const auto colour = in_line(job) ? screen::Colour::kNone : screen::Colour::kYellow;
      table.add({{placed ? std::to_string(i + 1) : ""},
                 {job.ns},
                 {job.name},
                 {std::to_string(job.priority)},
                 {job.gpus},
                 {job.reason, colour},
                 {job.age}});
    }
    return table;
  }

  std::string pool_;
  std::string output_;
};

}  // namespace

std::unique_ptr<command::Command> make_queue() { return std::make_unique<Queue>(); }

}  // namespace gpupool::jobs
