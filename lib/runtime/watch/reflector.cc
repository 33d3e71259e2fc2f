// SPDX-License-Identifier: Apache-2.0
#include "runtime/watch/reflector.h"

#include <random>
#include <variant>

#include "runtime/watch/watch_line.h"

namespace gpupool::runtime {

namespace {

std::uint64_t seed() {
  std::random_device device;
  return (static_cast<std::uint64_t>(device()) << 32) | device();
}

base::Labels kind_label(const api::ResourceType& type) { return {{"kind", std::string(type.kind)}}; }

}  // namespace

Reflector::Reflector(kube::Client& client, const api::ResourceType& type, ReflectorOptions options,
                     ReflectorSink& sink, base::Clock& clock, base::Metrics& metrics, const base::Log& log)
    : client_(client),
      type_(type),
      options_(std::move(options)),
      sink_(sink),
      clock_(clock),
      log_(log.with({{"kind", type.kind}})),
      restarts_(
          metrics.counter("gpupool_watch_restarts_total", "Watches begun after the first", kind_label(type))),
      lists_(metrics.counter("gpupool_watch_lists_total", "Lists begun to fill a cache", kind_label(type))),
      decode_errors_(metrics.counter("gpupool_watch_decode_errors_total",
                                     "Objects and events that could not be read and were skipped",
                                     kind_label(type))) {}

std::string Reflector::name() const { return "cache of " + std::string(type_.plural); }

void Reflector::run(std::stop_token stop) {
  Watcher watcher(clock_, seed());
  std::uint64_t restarts = 0;
  std::uint64_t lists = 0;
  while (!stop.stop_requested()) {
    const auto action = watcher.next();
    restarts_.increment(
        static_cast<double>(watcher.restarts() - std::exchange(restarts, watcher.restarts())));
    lists_.increment(static_cast<double>(watcher.lists() - std::exchange(lists, watcher.lists())));
    if (const auto* request = std::get_if<Watcher::DoList>(&action)) {
      list(watcher, *request, stop);
    } else if (const auto* start = std::get_if<Watcher::DoWatch>(&action)) {
      watch(watcher, *start, stop);
    } else if (std::holds_alternative<Watcher::DoProbe>(action)) {
      probe(watcher, stop);
    } else {
      clock_.sleep_for(std::get<Watcher::DoWait>(action).delay, stop);
      watcher.on_waited();
    }
  }
}

void Reflector::list(Watcher& watcher, const Watcher::DoList& request, const std::stop_token& stop) {
  const kube::ListOptions options{.label_selector = options_.label_selector,
                                  .field_selector = options_.field_selector,
                                  .resource_version = request.resource_version};
  const auto on_item = [this](std::string_view text) {
    if (const auto read = sink_.item(text); !read) count_broken(read.error());
  };
  const auto version = client_.list_items(type_, options_.ns, options, on_item, stop);
  if (!version) {
    sink_.abandon();
    if (stop.stop_requested()) return;
    note_failure("list", version.error());
    return watcher.on_list_error(version.error());
  }
  watcher.on_listed(*version);
  if (watcher.went_back()) {
    log_.warning("The API server has gone back to an older state; listed again",
                 {{"resourceVersion", *version}});
  }
  sink_.commit();
  sink_.reached(*version);
  synced_.store(true);
  note_success();
}

void Reflector::watch(Watcher& watcher, const Watcher::DoWatch& request, const std::stop_token& stop) {
  const kube::WatchOptions options{.label_selector = options_.label_selector,
                                   .field_selector = options_.field_selector,
                                   .resource_version = request.resource_version,
                                   .timeout = request.timeout};
  const auto on_line = [&](std::string_view text) { return !stop.stop_requested() && line(watcher, text); };
  const auto result = client_.watch(type_, options_.ns, options, on_line, stop);
  if (stop.stop_requested()) return;
  if (!result) note_failure("watch", result.error());
  watcher.on_watch_end(result ? std::nullopt : std::optional(result.error()));
}

// Without the selectors: with them the server might examine all objects to find one.
void Reflector::probe(Watcher& watcher, const std::stop_token& stop) {
  kube::ListOptions options;
  options.limit = 1;
  const auto body = client_.list(type_, options_.ns, options, stop);
  const auto version = body ? list_version(*body) : tl::unexpected<base::Error>(body.error());
  if (version) return watcher.on_probe(*version);
  if (stop.stop_requested()) return;
  note_failure("list", version.error());
  watcher.on_probe_error(version.error());
}

bool Reflector::line(Watcher& watcher, std::string_view text) {
  std::string storage;
  const auto type = event_type(text, storage);
  if (!type) return unreadable(watcher, type.error());
  if (*type == "ADDED" || *type == "MODIFIED" || *type == "DELETED") {
    return object_line(watcher, *type, text);
  }
  if (*type == "BOOKMARK") {
    const auto version = event_version(text);
    if (version) {
      note_success();
      sink_.reached(*version);
      watcher.on_event(*type, *version);
    } else {
      count_broken(version.error());
    }
  } else if (*type == "ERROR") {
    const auto error = event_error(text);
    note_failure("watch", error);
    watcher.on_error_event(error);
    return false;
  } else {
    count_broken({base::ErrorCode::kParse, "unknown type of event: " + std::string(type->substr(0, 64))});
  }
  return true;
}

bool Reflector::object_line(Watcher& watcher, std::string_view type, std::string_view text) {
  auto version = sink_.event(type, text);
  if (version) {
    note_success();
  } else {
    // Skips the object, or each new watch would begin with it.
    const auto error = version.error();
    version = event_version(text);
    if (!version) return unreadable(watcher, error);
    count_broken(error);
  }
  sink_.reached(*version);
  watcher.on_event(type, *version);
  return true;
}

// The line is not JSON and may have been any event, so only a new list shows the state of the objects.
bool Reflector::unreadable(Watcher& watcher, const base::Error& error) {
  count_broken(error);
  watcher.on_error_event(error);
  return false;
}

void Reflector::count_broken(const base::Error& error) {
  decode_errors_.increment();
  log_.error("Cannot read what the API server sent; skipped", {{"error", error.message}});
}

// Logs the first failure of a row as a warning and the others at level debug.
void Reflector::note_failure(std::string_view what, const base::Error& error) {
  if (failing_ == error.code) {
    log_.debug("List or watch still fails", {{"verb", what}, {"error", error.message}});
    return;
  }
  failing_ = error.code;
  // Normal: the server no longer has the version that was last seen.
  if (error.code == base::ErrorCode::kExpired) {
    log_.info("Version expired; listing again", {{"verb", what}, {"error", error.message}});
  } else {
    log_.warning("List or watch failed; trying again", {{"verb", what}, {"error", error.message}});
  }
}

void Reflector::note_success() {
  if (!failing_) return;
  failing_.reset();
  log_.info("List or watch works again");
}

}  // namespace gpupool::runtime
