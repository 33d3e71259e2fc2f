// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/server_fields.h"

#include <chrono>
#include <string>
#include <string_view>
#include <utility>

#include "kube/member_splitter.h"

namespace gpupool::controllers {
namespace {

constexpr char kDocument[] = "/openapi/v2";
constexpr std::chrono::seconds kLongestRead{10};  // jobs wait for it after the start

}  // namespace

base::Result<planning::TemplateFields> read_template_fields(kube::Client& client, std::stop_token stop) {
  planning::TemplateFieldsBuilder builder;
  kube::MemberSplitter definitions(
      "definitions", [](const std::string& name) { return planning::TemplateFieldsBuilder::wants(name); });
  const auto add = [&](const std::string& name, std::string_view schema) { builder.add(name, schema); };
  auto done = client.stream_path(
      kDocument, kLongestRead, [&](std::string_view piece) { return definitions.feed(piece, add); },
      std::move(stop));
  if (done) done = definitions.finish();
  if (!done) return tl::unexpected<base::Error>(done.error());
  auto fields = builder.build();
  if (fields.empty()) return base::fail(base::ErrorCode::kParse, "/openapi/v2 has no PodTemplateSpec");
  return fields;
}

}  // namespace gpupool::controllers
