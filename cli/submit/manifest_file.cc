// SPDX-License-Identifier: Apache-2.0
#include "submit/manifest_file.h"

#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "api/v1alpha1/names.h"
#include "base/read_file.h"
#include "objects/yaml.h"

namespace gpupool::submit {

base::Result<std::string> read_manifest(const std::string& path, std::istream& in) {
  const auto wrong = [&](const std::string& message) {
    return base::fail(base::ErrorCode::kInvalidArgument,
                      (path == "-" ? "standard input" : path) + ": " + message);
  };
  std::string text;
  if (path == "-") {
    text.assign(std::istreambuf_iterator<char>(in), {});
  } else if (auto file = base::read_file(path); file) {
    text = std::move(*file);
  } else {
    return base::fail(base::ErrorCode::kInvalidArgument, file.error().message);
  }
  const auto documents = objects::json_of_yaml(text);
  if (!documents) return wrong(documents.error().message);
  if (documents->size() != 1) {
    return wrong("it has " + std::to_string(documents->size()) +
                 " documents; run takes one GpuJob. Create others with kubectl apply");
  }
  const auto job = nlohmann::ordered_json::parse(documents->front());
  if (!job.is_object() || job.value("kind", nlohmann::ordered_json()) != "GpuJob" ||
      job.value("apiVersion", nlohmann::ordered_json()) != api::kApiVersion) {
    return wrong(std::string("it is no GpuJob of ") + api::kApiVersion);
  }
  for (const char* member : {"metadata", "spec"}) {
    if (!job.contains(member) || !job[member].is_object()) return wrong(std::string(member) + " is missing");
  }
  return documents->front();
}

}  // namespace gpupool::submit
