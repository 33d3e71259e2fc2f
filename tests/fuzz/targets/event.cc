// SPDX-License-Identifier: Apache-2.0
#include "runtime/events/event.h"

#include <algorithm>

#include "kube/patch.h"
#include "kube/request_path.h"
#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace kube = gpupool::kube;
namespace runtime = gpupool::runtime;

namespace {

void check_path(const std::string& ns, const std::string& name) {
  constexpr gpupool::api::ResourceType kPods{"", "v1", "pods", "Pod", true};
  const auto path = kube::object_path(kPods, {ns, name}, "");
  if (!path) return gpupool::fuzz::require_explained(path.error());
  require(std::count(path->begin(), path->end(), '/') == 6, "it names one object: " + *path);
  require(path->find('?') == std::string::npos && path->find(' ') == std::string::npos, "it is a path");
}

}  // namespace

// What we write about objects of others: a name and a namespace, a line each, then what a program printed.
void fuzz_event(std::string_view input) {
  const auto name = gpupool::fuzz::take_line(input);
  const auto ns = gpupool::fuzz::take_line(input);
  const std::string note(input);
  const auto cut = runtime::cut_note(note);
  require(cut.size() <= 1024, "a note has its limit");
  require(cut.size() <= note.size() || cut.size() <= note.size() + 3, "a note does not grow");
  const runtime::Event event{
      {"v1", "Pod", {ns, name}, "uid", "7"}, runtime::EventType::kWarning, "Reason", "Act", cut, {}};
  const auto own = runtime::event_name(event, 1);
  require(!own.empty() && own.size() <= 253, "a name has its limit");
  require(gpupool::fuzz::is_json(runtime::event_body(event, {"c", "i"}, {ns, own})), "an event is JSON");
  kube::JsonPatch patch;
  patch.only_if_version(name).add(kube::json_pointer({"metadata", name}), "{}");
  require(gpupool::fuzz::is_json(patch.text()), "a patch is JSON");
  check_path(ns, name);
}
