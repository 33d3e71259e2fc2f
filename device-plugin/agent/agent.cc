// SPDX-License-Identifier: Apache-2.0
#include "agent/agent.h"

#include <algorithm>
#include <set>
#include <thread>
#include <utility>

#include "slices/saved_table.h"

namespace gpupool::agent {

namespace {

constexpr auto kGpuPace = std::chrono::seconds(1);
constexpr auto kEventWait = std::chrono::seconds(5);

}  // namespace

Agent::Agent(Parts parts, AgentOptions options)
    : parts_(std::move(parts)),
      options_(std::move(options)),
      log_(parts_.log),
      boot_id_(read_boot_id()),
      settings_(options_.config, options_.given),
      tracker_(settings::Settings{}, parts_.errors),
      gpus_(parts_.source, parts_.errors, tracker_, log_),
      pods_(parts_.pods, parts_.context.gate, parts_.clock, log_),
      limits_(parts_.context.limits, parts_.context.regions, log_),
      usage_(options_.state_directory, boot_id_, log_),
      enforcement_(parts_.context.regions, parts_.context.limits, parts_.source, options_.checkpoint,
                   options_.proc, log_),
      waits_(parts_.context.regions, parts_.source, enforcement_.containers(), parts_.metrics, log_),
      health_file_(options_.state_directory + "/health.json"),
      table_file_(options_.state_directory + "/table.json") {}

void Agent::run(std::stop_token stop) {
  start();
  const std::jthread events([this](const std::stop_token& over) {
    while (!over.stop_requested()) parts_.inbox.add(parts_.source.wait_events(kEventWait, over));
  });
  std::jthread waits;
  if (enforces()) {
    waits = std::jthread([this](const std::stop_token& over) { waits_.run(parts_.clock, over); });
  }
  Inbox::Mail mail{.errors = {}, .reload = true};
  while (!stop.stop_requested()) {
    look(mail, stop);
    mail = parts_.inbox.wait(parts_.clock, gpus_due_, stop);
  }
  save_health();
}

void Agent::start() {
  const auto warn = [&](const StateFile& file, const std::string& why) {
    log_.warning("Starting without what was known before", {{"file", file.path()}, {"error", why}});
  };
  if (const auto text = health_file_.read(); !text) {
    warn(health_file_, text.error().message);
  } else if (*text) {
    if (const auto restored = tracker_.restore(**text, boot_id_); !restored) {
      warn(health_file_, restored.error().message);
    }
  }
  if (const auto text = table_file_.read(); !text) {
    warn(table_file_, text.error().message);
  } else if (*text) {
    auto table = slices::restore(**text);
    if (table) {
      previous_ = std::move(*table);
      table_saved_ = true;
    } else {
      warn(table_file_, table.error().message);
    }
  }
}

void Agent::look(const Inbox::Mail& mail, const std::stop_token& stop) {
  if (mail.reload) reload();
  if (mail.reload || !mail.errors.empty() || parts_.clock.now() >= gpus_due_) look_at_gpus(mail.errors);
  pods_.look(stop);
  if (stop.stop_requested()) return;
  plan();
  const auto table = parts_.latest_table.current().table;
  std::set<std::string> resources;
  for (const auto& resource : table->resources) resources.insert(resource.name);
  parts_.plugins.serve(resources);
  if (pods_.complete()) {
    limits_.keep(pods_.holdings(), *table, parts_.clock.now(), parts_.clock.wall());
  }
  if (enforces()) {
    enforcement_.look(pods_.holdings(), *table, parts_.clock.now(), parts_.clock.wall());
  }
  save_health();
  note_saved(usage_saved_);
  tell();
  logged_save_problem_ = std::exchange(save_problem_, {});
}

void Agent::look_at_gpus(const std::vector<inventory::ErrorEvent>& errors) {
  gpus_due_ = parts_.clock.now() + kGpuPace;
  gpus_.errors(errors, parts_.clock.wall());
  gpus_.look(parts_.clock.wall());
  usage_saved_ = usage_.look(gpus_.usage(), parts_.clock.now(), parts_.clock.wall());
}

void Agent::reload() {
  const auto before = settings_.problem();
  settings_.reload();
  if (!settings_.problem().empty() && settings_.problem() != before) {
    log_.error("Bad configuration", {{"error", settings_.problem()}});
  }
}

void Agent::plan() {
  plan_problem_.clear();
  if (settings_.candidate()) {
    const auto tried = plan_with(*settings_.candidate());
    if (tried) {
      if (settings_.current() != settings_.candidate()) log_.info("The configuration is in force");
      settings_.take();
      return;
    }
    settings_.refuse(tried.error().message);
    log_.error("Bad configuration", {{"error", settings_.problem()}});
  }
  if (!settings_.current()) return;
  if (const auto planned = plan_with(*settings_.current()); !planned) {
    plan_problem_ = planned.error().message;
  }
}

base::Result<void> Agent::plan_with(const settings::Settings& settings) {
  slices::Circumstances circumstances;
  circumstances.node = options_.node;
  circumstances.unhealthy = tracker_.unhealthy();
  circumstances.in_use = pods_.in_use();
  circumstances.in_use_known = pods_.complete();
  circumstances.previous = previous_;
  circumstances.names = options_.resource_names;
  auto planned = slices::plan_table(gpus_.inventory(), settings, circumstances);
  if (!planned) return tl::unexpected<base::Error>(planned.error());
  tracker_.use(settings);
  parts_.rules.set({settings, options_.paths, gpus_.inventory().gpus});
  if (parts_.context.gate.if_quiet(pods_.allocations(), [&] { publish(std::move(*planned)); })) return {};
  // An Allocate began after podresources answered, so this plan must not take slices away.
  circumstances.in_use_known = false;
  planned = slices::plan_table(gpus_.inventory(), settings, circumstances);
  if (!planned) return tl::unexpected<base::Error>(planned.error());
  publish(std::move(*planned));
  return {};
}

void Agent::publish(slices::Planned planned) {
  for (const auto& note : planned.notes) {
    if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) log_.info("Note", {{"note", note}});
  }
  notes_ = std::move(planned.notes);
  waiting_ = planned.waiting;
  if (previous_ != planned.table) table_saved_ = false;
  previous_ = planned.table;
  // The file comes first: a plugin that starts after a crash must know the sizes of slices that are in use.
  if (!table_saved_) save_table();
  parts_.latest_table.publish(std::move(planned.table));
}

void Agent::save_table() {
  const auto saved = table_file_.write(slices::save(previous_));
  table_saved_ = saved.has_value();
  note_saved(saved);
}

void Agent::save_health() { note_saved(health_file_.write(tracker_.save(boot_id_))); }

void Agent::note_saved(const base::Result<void>& saved) {
  if (saved || !save_problem_.empty()) return;
  save_problem_ = saved.error().message;
  if (save_problem_ != logged_save_problem_) log_.error("Cannot save the state", {{"error", save_problem_}});
}

void Agent::tell() {
  parts_.metrics.gauge("gpupool_plugin_driver_present", "Whether the GPU driver answers.")
      .set(gpus_.driver_problem().empty() ? 1 : 0);
  parts_.metrics.gauge("gpupool_plugin_config_ok", "Whether the configuration file is in force.")
      .set(settings_.problem().empty() ? 1 : 0);
  parts_.metrics
      .gauge("gpupool_plugin_limiter_missing",
             "Whether limits are to be enforced by the limiter, which is not installed.")
      .set(limiter_problem().empty() ? 0 : 1);
  Snapshot snapshot;
  snapshot.facts = {gpus_.inventory(),      problem(),        *parts_.latest_table.current().table,
                    tracker_.states(),      pods_.holdings(), usage_.telemetry(),
                    enforcement_.excesses()};
  snapshot.enforced = enforcement_.counted();
  snapshot.findings = enforcement_.findings();
  snapshot.driver_problem = gpus_.driver_problem();
  snapshot.settings_problem = settings_.problem();
  snapshot.limiter_problem = limiter_problem();
  snapshot.notes = notes_;
  if (enforces()) {
    for (auto& note : enforcement_.notes()) snapshot.notes.push_back(std::move(note));
  }
  snapshot.taken = parts_.clock.now();
  parts_.report(snapshot.facts);
  parts_.snapshot.set(std::move(snapshot));
}

std::string Agent::problem() const {
  std::string all;
  const auto add = [&](const std::string& text) {
    if (!text.empty()) all += (all.empty() ? "" : "; ") + text;
  };
  add(settings_.problem());
  if (!gpus_.driver_problem().empty()) add("no GPU driver: " + gpus_.driver_problem());
  add(plan_problem_);
  using Phase = kubelet::ResourcePlugin::Phase;
  for (const auto& entry : parts_.plugins.status()) {
    const auto phase = entry.status.phase;
    if (phase == Phase::kRefused || phase == Phase::kDisplaced || phase == Phase::kOtherPlugin) {
      add(entry.status.detail);
    }
  }
  add(limiter_problem());
  if (waiting_) add("some GPUs keep their old slices until all of them are free");
  add(save_problem_);
  return all;
}

// Slices of such GPUs are refused to every pod.
std::string Agent::limiter_problem() const {
  if (enforces()) return {};
  const auto table = parts_.latest_table.current().table;
  for (const auto& resource : table->resources) {
    for (const auto& gpu : resource.gpus) {
      if (gpu.limited && gpu.enforcement.enforce == settings::Enforce::kLibrary) {
        return "enforce: library needs the limiter, which is not installed on this node";
      }
    }
  }
  return {};
}

}  // namespace gpupool::agent
