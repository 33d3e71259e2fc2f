// SPDX-License-Identifier: Apache-2.0
#include "controllers/cluster/node_writer.h"

namespace gpupool::controllers {
namespace {

constexpr int kTries = 8;

// A patch whose paths no longer fit gets kInvalid before its version is checked.
bool is_stale(const base::Error& error) {
  return error.code == base::ErrorCode::kConflict || error.code == base::ErrorCode::kInvalid;
}

}  // namespace

base::Result<bool> NodeWriter::edit(const std::string& name, const Planner& plan, std::stop_token stop) {
  const auto is_gone = [&] {
    if (const auto cached = caches_.newest_nodes.get({"", name}))
      caches_.newest_nodes.gone({"", name}, cached->metadata.uid);
    plan(nullptr, true);
    return false;
  };
  auto node = caches_.newest_nodes.get({"", name});
  base::Error last{base::ErrorCode::kConflict, "node " + name + " changes all the time"};
  for (int tries = 0; tries < kTries; ++tries) {
    const auto patch = plan(node, tries > 0);
    if (!patch || node == nullptr) return false;
    if (!patch->empty()) {
      const auto done = write(name, *patch, stop);
      if (done) return true;
      if (done.error().code == base::ErrorCode::kNotFound) return is_gone();
      if (!is_stale(done.error())) return tl::unexpected<base::Error>(done.error());
      last = done.error();
    }
    auto fresh = kube::get<api::Node>(client_, {"", name}, stop);
    if (!fresh && fresh.error().code == base::ErrorCode::kNotFound) return is_gone();
    if (!fresh) return tl::unexpected<base::Error>(fresh.error());
    node = caches_.newest_nodes.answered(*std::move(fresh));
  }
  return tl::unexpected<base::Error>(last);
}

base::Result<void> NodeWriter::write(const std::string& name, const std::string& patch,
                                     std::stop_token stop) {
  auto written = kube::decode<api::Node>(
      client_.patch(api::Node::kType, {"", name}, kube::PatchType::kJson, patch, "", stop));
  if (!written) return tl::unexpected<base::Error>(written.error());
  caches_.newest_nodes.answered(*std::move(written));
  return {};
}

}  // namespace gpupool::controllers
