// SPDX-License-Identifier: Apache-2.0
#include <iterator>
#include <utility>

#include "settings/load.h"
#include "settings/resource_name.h"
#include "settings/schema.h"
#include "settings/values.h"

namespace gpupool::settings {
namespace {

constexpr std::int64_t kMaxXid = 9999;
constexpr std::int64_t kMaxIndex = 1023;
constexpr std::int64_t kMaxProbes = 1000;
constexpr std::int64_t kMaxSeconds = 86400;
constexpr std::int64_t kMaxContextMib = 65536;
constexpr std::int64_t kMaxWaitSeconds = 3600;
constexpr std::int64_t kMaxToleranceMib = 1048576;

Taker text(std::string& target) {
  return scalar<std::string>(target, Quotes::kAllowed, [](const std::string& value) {
    return value.empty()
               ? base::Result<std::string>(base::fail(base::ErrorCode::kInvalidArgument, "must not be empty"))
               : value;
  });
}

template <class Target>
Taker integer(Target& target, std::int64_t least, std::int64_t most) {
  return scalar<std::int64_t>(target, Quotes::kRefused,
                              [=](const std::string& value) { return to_integer(value, least, most); });
}

template <class Target>
Taker scaling(Target& target) {
  return scalar<Milli>(target, Quotes::kRefused, to_scaling);
}

Taker flag(bool& target) { return scalar<bool>(target, Quotes::kRefused, to_bool); }

Taker gpu_uuid(std::string& target) {
  return scalar<std::string>(
      target, Quotes::kAllowed, [](const std::string& value) -> base::Result<std::string> {
        if (value.starts_with("GPU-") && value.size() > 4) return value;
        return base::fail(base::ErrorCode::kInvalidArgument,
                          "must be the UUID of a GPU, such as GPU-0a1b..., not '" + value + "'");
      });
}

base::Result<void> take_match(const Value& value, const std::string& path, Match& match) {
  if (auto ok = take_entries(value, path,
                             {{"node", text(match.node)},
                              {"uuid", gpu_uuid(match.uuid)},
                              {"model", text(match.model)},
                              {"index", integer(match.index, 0, kMaxIndex)}});
      !ok) {
    return ok;
  }
  if (match == Match{}) {
    return bad_value(
        value.line, path,
        "names neither node, uuid, model nor index; what is for all GPUs belongs to the top level");
  }
  return {};
}

// The same keys at the top level and in an override; `target` is Enforcement or EnforcementOverride.
template <class Target>
Takers enforcement_keys(Target& target) {
  const auto audit = [&target](const Value& value, const std::string& path) {
    return take_entries(value, path,
                        {{"toleranceMiB", integer(target.tolerance_mib, 0, kMaxToleranceMib)},
                         {"onExcess", scalar<OnExcess>(target.on_excess, Quotes::kAllowed, to_on_excess)}});
  };
  return {{"enforce", scalar<Enforce>(target.enforce, Quotes::kAllowed, to_enforce)},
          {"contextMiB", integer(target.context_mib, 0, kMaxContextMib)},
          {"memoryWaitSeconds", integer(target.memory_wait_seconds, 0, kMaxWaitSeconds)},
          {"audit", audit}};
}

Takers joined(Takers takers, Takers more) {
  std::move(more.begin(), more.end(), std::back_inserter(takers));
  return takers;
}

base::Result<void> take_override(const Value& value, const std::string& path, Override& override) {
  bool matched = false;
  const auto match = [&](const Value& inner, const std::string& inner_path) {
    matched = true;
    return take_match(inner, inner_path, override.match);
  };
  const Takers split = {{"match", match},
                        {"deviceSplitCount", integer(override.count, 1, kMaxSplitCount)},
                        {"deviceMemoryScaling", scaling(override.memory_scaling)},
                        {"deviceCoreScaling", scaling(override.core_scaling)}};
  if (auto ok = take_entries(value, path, joined(split, enforcement_keys(override.enforcement))); !ok)
    return ok;
  if (!matched) return bad_value(value.line, child_path(path, "match"), "is missing");
  if (!override.count && !override.memory_scaling && !override.core_scaling &&
      override.enforcement == EnforcementOverride{}) {
    return bad_value(value.line, path,
                     "changes nothing; give deviceSplitCount, deviceMemoryScaling, deviceCoreScaling, "
                     "enforce, contextMiB, memoryWaitSeconds or audit");
  }
  return {};
}

base::Result<void> take_xids(const Value& value, const std::string& path, std::vector<ErrorRule>& xids) {
  if (value.kind != Value::Kind::kMap)
    return bad_value(value.line, path, "must be a mapping of XIDs to actions");
  Takers takers;
  xids.resize(value.entries.size());
  for (std::size_t i = 0; i < value.entries.size(); ++i) {
    const Value::Entry& entry = value.entries[i];
    const auto xid = to_integer(entry.key, 1, kMaxXid);
    if (!xid || entry.key.front() == '0') {
      return bad_value(entry.line, child_path(path, entry.key),
                       "must be an XID, a whole number from 1 to " + std::to_string(kMaxXid));
    }
    xids[i].code = static_cast<std::uint64_t>(*xid);
    takers.emplace_back(entry.key, scalar<ErrorAction>(xids[i].action, Quotes::kAllowed, to_error_action));
  }
  return take_entries(value, path, takers);
}

base::Result<void> take_health(const Value& value, const std::string& path, Settings& settings) {
  const auto xids = [&](const Value& inner, const std::string& inner_path) {
    return take_xids(inner, inner_path, settings.error_rules);
  };
  return take_entries(value, path,
                      {{"recoveryProbes", integer(settings.recovery_probes, 1, kMaxProbes)},
                       {"recoverySeconds", integer(settings.recovery_seconds, 0, kMaxSeconds)},
                       {"xids", xids}});
}

base::Result<void> take_passing(const Value& value, const std::string& path, Passing& passing) {
  if (auto ok = take_entries(value, path,
                             {{"environment", flag(passing.environment)},
                              {"deviceNodes", flag(passing.device_nodes)},
                              {"cdiDevices", flag(passing.cdi_devices)},
                              {"cdiAnnotations", flag(passing.cdi_annotations)}});
      !ok) {
    return ok;
  }
  if (!passing.environment && !passing.device_nodes && !passing.cdi_devices && !passing.cdi_annotations) {
    return bad_value(value.line, path,
                     "leaves a container no way to its GPUs; set environment, deviceNodes, cdiDevices or "
                     "cdiAnnotations to true");
  }
  return {};
}

base::Result<void> take_overrides(const Value& value, const std::string& path,
                                  std::vector<Override>& overrides) {
  return take_items(value, path, [&](const Value& item, const std::string& item_path) {
    return take_override(item, item_path, overrides.emplace_back());
  });
}

int line_of(const Value& map, const std::string& key) {
  for (const Value::Entry& entry : map.entries) {
    if (entry.key == key) return entry.line;
  }
  return map.line;
}

Takers top_level(Settings& settings, std::string& version) {
  const auto v1 = [](const std::string& value) -> base::Result<std::string> {
    if (value == "v1") return value;
    return base::fail(base::ErrorCode::kInvalidArgument, "must be v1, not '" + value + "'");
  };
  const Takers takers = {
      {"version", scalar<std::string>(version, Quotes::kAllowed, v1)},
      {"resourceName", scalar<std::string>(settings.resource_name, Quotes::kAllowed, to_resource_name)},
      {"allocationPolicy", scalar<Policy>(settings.policy, Quotes::kAllowed, to_policy)},
      {"deviceSplitCount", integer(settings.split.count, 1, kMaxSplitCount)},
      {"deviceMemoryScaling", scaling(settings.split.memory_scaling)},
      {"deviceCoreScaling", scaling(settings.split.core_scaling)},
      {"overrides", [&](const Value& value,
                        const std::string& path) { return take_overrides(value, path, settings.overrides); }},
      {"mig", flag(settings.mig)},
      {"health",
       [&](const Value& value, const std::string& path) { return take_health(value, path, settings); }},
      {"passing", [&](const Value& value,
                      const std::string& path) { return take_passing(value, path, settings.passing); }},
      {"cdiPrefix", scalar<std::string>(settings.cdi_prefix, Quotes::kAllowed, to_cdi_prefix)},
      {"driverRoot", scalar<std::string>(settings.driver_root, Quotes::kAllowed, to_directory)},
  };
  return joined(takers, enforcement_keys(settings.enforcement));
}

}  // namespace

base::Result<Settings> parse(const std::string& yaml) {
  const auto document = read_document(yaml);
  if (!document) return tl::unexpected<base::Error>(document.error());
  if (document->kind == Value::Kind::kNull) {
    return bad_value(document->line, "", "is empty; a settings file begins with 'version: v1'");
  }
  Settings settings;
  std::string version;
  if (auto ok = take_entries(*document, "", top_level(settings, version)); !ok) {
    return tl::unexpected<base::Error>(ok.error());
  }
  if (version.empty()) return bad_value(document->line, "version", "is missing; write 'version: v1'");
  if (const std::string problem = mig_problem(settings); !problem.empty()) {
    return bad_value(line_of(*document, "mig"), "mig", problem);
  }
  return settings;
}

}  // namespace gpupool::settings
