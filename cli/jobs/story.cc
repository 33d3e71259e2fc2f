// SPDX-License-Identifier: Apache-2.0
#include "jobs/story.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "api/v1alpha1/names.h"
#include "base/rfc3339.h"
#include "command/duration.h"
#include "jobs/data_story.h"
#include "jobs/progress_story.h"
#include "jobs/worker_pods.h"
#include "objects/phase.h"
#include "screen/fields.h"
#include "screen/plain_text.h"
#include "screen/table.h"

namespace gpupool::jobs {
namespace {

using screen::Colour;

std::string ago(const std::optional<base::WallTime>& time, base::WallTime now) {
  if (!time) return "";
  return command::age_text(std::chrono::duration_cast<std::chrono::seconds>(now - *time));
}

std::string when(const std::optional<base::WallTime>& time, base::WallTime now) {
  return time ? base::to_rfc3339(*time) + " (" + ago(time, now) + " ago)" : "";
}

std::string plural(std::int64_t number, const char* word) {
  return std::to_string(number) + " " + word + (number == 1 ? "" : "s");
}

std::string wants(const api::GpuJob& job) {
  const auto& spec = job.spec;
  const std::int64_t workers = api::worker_count(spec);
  std::string text = plural(workers, "worker");
  if (spec.slice) {
    text +=
        ", each with slices of one GPU: " + (job.status.gpus.empty() ? "?" : std::string(job.status.gpus));
  } else {
    text += " with " + plural(api::gpus_of_each_worker(spec), "GPU") + (workers == 1 ? "" : " each");
  }
  return text + ", priority " + std::to_string(spec.priority);
}

std::string nodes_of(const api::GpuJob& job) {
  if (!job.status.lease) return job.status.node_names;
  std::string text;
  for (const auto& node : job.status.lease->nodes) text += (text.empty() ? "" : " ") + node.name;
  for (const auto& node : job.status.lease->lost) text += " " + node.name + " (lost)";
  return text;
}

std::string attempts_of(const api::GpuJob& job) {
  if (job.status.attempts == 0) return "";
  return std::to_string(job.status.attempts) + " begun, " + std::to_string(job.status.failures) + " of " +
         std::to_string(job.spec.backoff_limit) + " forgiven crashes used";
}

std::string state_of(const api::Pod& pod) {
  if (pod.metadata.deleting()) return "Terminating";
  for (const auto* all : {&pod.status.init_container_statuses, &pod.status.container_statuses}) {
    for (const auto& container : *all) {
      if (container.state.waiting && !container.state.waiting->reason.empty() &&
          container.state.waiting->reason != "PodInitializing") {
        return container.state.waiting->reason;
      }
    }
  }
  return pod.status.reason.empty() ? pod.status.phase : pod.status.reason;
}

std::string workers_table(const Story& story, base::WallTime now, const screen::Terminal& terminal) {
  if (!story.pods) return "Workers: you may not list pods in this namespace\n";
  auto pods = *story.pods;
  if (pods.empty()) return "";
  std::sort(pods.begin(), pods.end(), [](const api::Pod& a, const api::Pod& b) {
    return std::pair(rank_of_worker(a), a.metadata.name) < std::pair(rank_of_worker(b), b.metadata.name);
  });
  screen::Table table({{"  RANK"}, {"POD", 12}, {"NODE", 12}, {"STATE"}, {"AGE"}});
  for (const auto& pod : pods) {
    table.add({{"  " + std::to_string(rank_of_worker(pod))},
               {pod.metadata.name},
               {pod.spec.node_name},
               {state_of(pod), objects::colour_of_phase(pod.status.phase)},
               {ago(pod.metadata.creation_timestamp, now)}});
  }
  return "Workers:\n" + table.text(terminal);
}

std::string conditions_table(const api::GpuJob& job, base::WallTime now, const screen::Terminal& terminal) {
  if (job.status.conditions.empty()) return "";
  screen::Table table({{"  CONDITION"}, {"STATUS"}, {"REASON", 12}, {"SINCE"}});
  for (const auto& condition : job.status.conditions) {
    const std::string status(condition.status);
    table.add({{"  " + std::string(condition.type)},
               {status, status == "True" ? Colour::kBold : Colour::kFaint},
               {std::string(condition.reason)},
               {ago(condition.last_transition_time, now)}});
  }
  return "Conditions:\n" + table.text(terminal);
}

base::WallTime time_of(const SeenEvent& event) {
  for (const auto& time : {event.last, event.time, event.first}) {
    if (time) return *time;
  }
  return {};
}

std::string events_table(const Story& story, base::WallTime now, const screen::Terminal& terminal) {
  if (!story.events) return "Events: you may not list events in this namespace\n";
  auto events = *story.events;
  if (events.empty()) return "";
  std::stable_sort(events.begin(), events.end(),
                   [](const SeenEvent& a, const SeenEvent& b) { return time_of(a) < time_of(b); });
  screen::Table table({{"  AGE"}, {"TYPE"}, {"REASON"}, {"MESSAGE"}});
  for (const auto& event : events) {
    table.add({{"  " + ago(time_of(event), now)},
               {event.type, event.type == "Warning" ? Colour::kYellow : Colour::kNone},
               {event.reason},
               {event.message}});
  }
  return "Events:\n" + table.text(terminal);
}

}  // namespace

std::string story_text(const Story& story, base::WallTime now, const screen::Terminal& terminal) {
  using screen::add_field;
  using screen::plain_lines;
  using screen::plain_text;
  const api::GpuJob& job = story.job;
  const auto& status = job.status;
  std::string all;
  add_field(all, "Name", plain_text(job.metadata.name));
  add_field(all, "Namespace", plain_text(job.metadata.ns));
  const std::string phase =
      status.phase.empty() ? "new: the operator has not seen it yet" : plain_text(status.phase.string());
  add_field(all, "Phase",
            screen::painted(phase, objects::colour_of_phase(status.phase), terminal) +
                (status.reason.empty() ? "" : " (" + plain_text(status.reason) + ")"));
  add_field(all, "Message", plain_lines(status.message));
  add_field(all, "Pool", plain_text(job.spec.pool));
  add_field(all, "Wants", plain_text(wants(job)));
  add_field(all, "Created", when(job.metadata.creation_timestamp, now));
  add_field(all, "Deleted", when(job.metadata.deletion_timestamp, now));
  add_field(all, "Started", when(status.start_time, now));
  add_field(all, "Ended", when(status.completion_time, now));
  if (job.spec.active_deadline_seconds) {
    add_field(
        all, "Deadline",
        command::age_text(std::chrono::seconds(*job.spec.active_deadline_seconds)) + " after its start");
  }
  add_field(all, "Nodes", plain_text(nodes_of(job)));
  add_field(all, "Attempts", attempts_of(job));
  if (status.progress && status.progress->yields > 0)
    add_field(all, "Made room", plural(status.progress->yields, "time") + " for other jobs");
  add_field(all, "Checkpoint", checkpoint_text(job, now));
  add_field(all, "Retry of", plain_text(job.metadata.annotation("gpupool.dev/retry-of")));
  for (const std::string& part : {source_text(job, terminal), results_text(job, terminal),
                                  history_text(job, now, terminal), workers_table(story, now, terminal),
                                  conditions_table(job, now, terminal), events_table(story, now, terminal)}) {
    if (!part.empty()) all += "\n" + part;
  }
  return all;
}

}  // namespace gpupool::jobs
