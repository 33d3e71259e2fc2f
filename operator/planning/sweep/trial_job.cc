// SPDX-License-Identifier: Apache-2.0
#include "planning/sweep/trial_job.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "api/v1alpha1/names.h"
#include "api/v1alpha1/reasons.h"
#include "planning/sweep/asha.h"
#include "planning/sweep/substitution.h"

namespace gpupool::planning {
namespace {

using Json = nlohmann::json;

constexpr char kTrial[] = "trial";  // $(trial)

std::string variable_of(const std::string& parameter) {
  std::string name = kParameterVariable;
  for (const char c : parameter) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

// The member of an object; null if there is none of this type.
Json* member(Json& object, const char* key, Json::value_t type) {
  if (!object.is_object()) return nullptr;
  const auto found = object.find(key);
  return found != object.end() && found->type() == type ? &*found : nullptr;
}

template <class Visit>
void for_each_container(Json& job, const Visit& visit) {
  auto* const pod = member(job, "template", Json::value_t::object);
  auto* const spec = pod == nullptr ? nullptr : member(*pod, "spec", Json::value_t::object);
  if (spec == nullptr) return;
  for (const char* list : {"containers", "initContainers"}) {
    auto* const containers = member(*spec, list, Json::value_t::array);
    if (containers == nullptr) continue;
    for (auto& container : *containers) {
      if (container.is_object()) visit(container);
    }
  }
}

// Passes each text of a container in which references are replaced.
template <class Visit>
void for_each_text(Json& container, const Visit& visit) {
  for (const char* list : {"command", "args"}) {
    auto* const words = member(container, list, Json::value_t::array);
    if (words == nullptr) continue;
    for (auto& word : *words) {
      if (word.is_string()) visit(word);
    }
  }
  auto* const variables = member(container, "env", Json::value_t::array);
  if (variables == nullptr) return;
  for (auto& variable : *variables) {
    if (auto* const value = member(variable, "value", Json::value_t::string)) visit(*value);
  }
}

// Passes each text of a field of the job, at any depth.
template <class Visit>
void for_each_data_text(Json& data, const Visit& visit) {
  if (data.is_string()) return visit(data);
  if (!data.is_structured()) return;
  for (auto& part : data) for_each_data_text(part, visit);
}

// What brings data and takes results: references are replaced in all of their texts.
constexpr std::array<const char*, 2> kDataFields = {"source", "results"};

// What gpupool-carry replaces in places of results.
bool is_of_place(const std::string& name) {
  return name == "job" || name == "namespace" || name == "attempt" || name == "rank";
}

std::vector<std::string> variables_of(Json& container) {
  std::vector<std::string> names;
  auto* const variables = member(container, "env", Json::value_t::array);
  if (variables == nullptr) return names;
  for (auto& variable : *variables) {
    if (const auto* const name = member(variable, "name", Json::value_t::string))
      names.push_back(name->get<std::string>());
  }
  return names;
}

Json variable(const std::string& name, const std::string& value) {
  return {{"name", name}, {"value", escape_dollars(value)}};
}

// Before the container's own variables, which may refer to them.
void add_variables(Json& container, std::int64_t trial, const TrialParameters& parameters) {
  auto all = Json::array({variable(kTrialVariable, std::to_string(trial))});
  for (const auto& [name, value] : parameters) all.push_back(variable(variable_of(name), value));
  if (const auto* const own = member(container, "env", Json::value_t::array))
    all.insert(all.end(), own->begin(), own->end());
  container["env"] = std::move(all);
}

// The launcher reports only what spec.metrics names.
void add_metric(Json& job, const std::string& metric) {
  auto& names = job["metrics"]["names"];
  if (!names.is_array()) names = Json::array();
  if (std::ranges::find(names, Json(metric)) == names.end()) names.push_back(metric);
}

// The launcher tells the values at the rungs while the program runs.
void add_live_steps(Json& job, const api::SweepStopping& stopping) {
  if (stopping.asha) job["metrics"]["liveSteps"] = rungs_of(*stopping.asha);
}

// Variables that every worker has besides those of its template and of the trial.
bool is_given(const std::string& name) { return name == "GPUPOOL_JOB" || name == "GPUPOOL_ATTEMPT"; }

}  // namespace

std::string trial_job_name(const std::string& sweep, std::int64_t trial) {
  return sweep + "-" + std::to_string(trial);
}

std::optional<std::int64_t> trial_of(const api::GpuJob& job, const api::GpuSweep& sweep) {
  const auto& name = job.metadata.name;
  const auto begin = sweep.metadata.name.size() + 1;
  if (job.metadata.controller_uid() != sweep.metadata.uid || name.size() <= begin) return std::nullopt;
  std::int64_t trial = 0;
  std::from_chars(name.data() + begin, name.data() + name.size(), trial);
  const bool is_it = trial >= 0 && trial_job_name(sweep.metadata.name, trial) == name;
  return is_it ? std::optional(trial) : std::nullopt;
}

bool is_of_earlier_sweep(const api::GpuJob& job, const api::GpuSweep& sweep) {
  return std::ranges::any_of(job.metadata.owner_references, [&](const api::OwnerReference& owner) {
    return owner.controller && owner.kind == api::GpuSweep::kType.kind && owner.name == sweep.metadata.name &&
           owner.uid != sweep.metadata.uid;
  });
}

std::string trial_job(const api::GpuSweep& sweep, std::int64_t trial, const TrialParameters& parameters) {
  auto spec = Json::parse(sweep.spec.job.text);
  const auto value_of = [&](std::string_view name) -> std::optional<std::string> {
    if (name == kTrial) return std::to_string(trial);
    const auto found = parameters.find(std::string(name));
    return found == parameters.end() ? std::nullopt : std::optional(found->second);
  };
  for_each_container(spec, [&](Json& container) {
    for_each_text(container, [&](Json& text) { text = substitute(text.get<std::string>(), value_of); });
    add_variables(container, trial, parameters);
  });
  for (const char* field : kDataFields) {
    if (!spec.contains(field)) continue;
    for_each_data_text(spec[field], [&](Json& text) { text = fill_in(text.get<std::string>(), value_of); });
  }
  if (sweep.spec.objective) add_metric(spec, sweep.spec.objective->metric);
  if (sweep.spec.stopping) add_live_steps(spec, *sweep.spec.stopping);
  const Json job = {
      {"apiVersion", api::kApiVersion},
      {"kind", api::GpuJob::kType.kind},
      {"metadata",
       {{"name", trial_job_name(sweep.metadata.name, trial)},
        {"namespace", sweep.metadata.ns},
        {"labels", {{api::kSweepLabel, sweep.metadata.name}, {api::kTrialLabel, std::to_string(trial)}}},
        {"ownerReferences", Json::array({{{"apiVersion", api::kApiVersion},
                                          {"kind", api::GpuSweep::kType.kind},
                                          {"name", sweep.metadata.name},
                                          {"uid", sweep.metadata.uid},
                                          {"controller", true},
                                          {"blockOwnerDeletion", true}}})}}},
      {"spec", std::move(spec)}};
  return job.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string unknown_job_field(const api::GpuSweepSpec& spec) {
  const auto job = Json::parse(spec.job.text, nullptr, false);
  if (!job.is_object()) return {};
  for (const auto& [name, value] : job.items()) {
    const auto is_it = [&](const base::json::Field& field) { return field.name == name; };
    if (std::ranges::none_of(base::json::Schema<api::GpuJobSpec>::fields, is_it)) return name;
  }
  return {};
}

std::optional<api::Problem> check_references(const api::GpuSweepSpec& spec) {
  auto job = Json::parse(spec.job.text, nullptr, false);
  std::set<std::string> known = {kTrial, kTrialVariable};
  for (const auto& parameter : spec.parameters) {
    known.insert(parameter.name);
    known.insert(variable_of(parameter.name));
  }
  std::optional<api::Problem> problem;
  const auto refuse = [&](const std::string& message) {
    if (!problem) problem = {api::reason::kInvalidTemplate, "spec.job.template: " + message};
  };
  for_each_container(job, [&](Json& container) {
    const auto own = variables_of(container);
    for (const auto& name : own) {
      if (name == kTrialVariable || name.starts_with(kParameterVariable))
        refuse("environment variable " + name + " is set by gpupool");
    }
    if (container.contains("envFrom")) return;
    for_each_text(container, [&](const Json& text) {
      for (const auto& name : references_in(text.get<std::string>())) {
        if (known.contains(name) || is_given(name) || std::ranges::find(own, name) != own.end()) continue;
        refuse("$(" + name + ") is neither a parameter nor a variable of the container; write $$(" + name +
               ") for the text itself");
      }
    });
  });
  for (const char* field : kDataFields) {
    if (!job.is_object() || !job.contains(field)) continue;
    for_each_data_text(job[field], [&](const Json& text) {
      for (const auto& name : references_in(text.get<std::string>())) {
        if (known.contains(name) || is_of_place(name) || problem) continue;
        problem = {api::reason::kInvalidSpec,
                   std::string("spec.job.") + field + ": $(" + name + ") is not a parameter"};
      }
    });
  }
  return problem;
}

}  // namespace gpupool::planning
