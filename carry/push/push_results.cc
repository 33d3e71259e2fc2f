// SPDX-License-Identifier: Apache-2.0
#include "push/push_results.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "digest/sha256.h"
#include "files/directories.h"

namespace gpupool::carry {
namespace {

using Json = nlohmann::json;

constexpr base::Duration kPause = std::chrono::seconds(1);  // between two tries
constexpr std::size_t kNamedSkipped = 3;

// A full volume, or a Secret, may be mended meanwhile.
bool may_pass(FailureKind kind) { return kind != FailureKind::kInvalid && kind != FailureKind::kStopped; }

std::int64_t nanoseconds(base::WallTime time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time.time_since_epoch()).count();
}

std::string skipped_text(const FileList& list) {
  if (list.skipped.empty()) return {};
  std::string text = std::to_string(list.skipped.size()) + " links or special files were left out: ";
  for (std::size_t i = 0; i < std::min(list.skipped.size(), kNamedSkipped); ++i)
    text += (i > 0 ? ", " : "") + list.skipped[i];
  return text;
}

}  // namespace

ResultPush::ResultPush(api::JobResult wanted, PlaceNames names, std::string work, MakeTarget make,
                       base::Clock& clock)
    : wanted_(std::move(wanted)),
      names_(std::move(names)),
      work_(std::move(work)),
      make_(std::move(make)),
      clock_(clock) {}

Outcome<void> ResultPush::connect() {
  if (target_ != nullptr) return {};
  auto made = make_();
  if (!made) return tl::unexpected(made.error());
  target_ = *std::move(made);
  return {};
}

Outcome<FileList> ResultPush::list() const {
  return list_files(work_, wanted_.from.substr(std::string_view(api::kWorkDirectory).size() + 1));
}

Outcome<void> ResultPush::put_new(const FileList& list, base::SteadyTime deadline, std::stop_token stop) {
  const auto root = open_directory(work_);
  if (!root) return tl::unexpected(root.error());
  for (const auto& [name, file] : list.files) {
    const auto known = put_.find(name);
    if (known != put_.end() && known->second.version == file.version) continue;
    if (stop.stop_requested()) return failed(FailureKind::kStopped, "was stopped");
    if (clock_.now() >= deadline)
      return failed(FailureKind::kUnavailable, "the time was over before all files were put away");
    auto sha256 = target_->put(root->get(), file.path, name, deadline, stop);
    if (!sha256) return tl::unexpected(sha256.error());
    put_[name] = {file.version, *std::move(sha256)};
  }
  return {};
}

Outcome<void> ResultPush::remove_gone(const FileList& list, base::SteadyTime deadline, std::stop_token stop) {
  for (auto at = put_.begin(); at != put_.end();) {
    if (list.files.contains(at->first)) {
      ++at;
      continue;
    }
    if (auto gone = target_->remove(at->first, deadline, stop); !gone) return gone;
    at = put_.erase(at);
  }
  return {};
}

void ResultPush::sync(base::SteadyTime deadline, std::stop_token stop) {
  if (!connect()) return;
  auto found = list();
  if (!found) return;  // the program has not made it yet
  const auto settled = nanoseconds(clock_.wall() - kSettled);
  std::erase_if(found->files, [&](const auto& file) { return file.second.version.modified_ns > settled; });
  static_cast<void>(put_new(*found, deadline, stop));
}

std::string ResultPush::manifest(const FileList& list) const {
  auto files = Json::array();
  for (const auto& [name, file] : list.files)
    files.push_back({{"path", name}, {"bytes", file.version.bytes}, {"sha256", put_.at(name).sha256}});
  const Json document = {{"complete", true},          {"job", names_.job},   {"namespace", names_.ns},
                         {"attempt", names_.attempt}, {"rank", names_.rank}, {"files", std::move(files)}};
  return document.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Outcome<void> ResultPush::finish_once(api::TransferredItem& item, base::SteadyTime deadline,
                                      std::stop_token stop) {
  if (auto done = connect(); !done) return done;
  item.to = target_->text();
  const auto found = list();
  if (!found) return tl::unexpected(found.error());
  if (found->files.contains(kManifest))
    return failed(FailureKind::kInvalid,
                  std::string("there is a file ") + kManifest + ", a name that gpupool uses");
  item.message = skipped_text(*found);
  auto put = put_new(*found, deadline, stop);
  item.files = 0;
  item.bytes = 0;
  for (const auto& [name, file] : found->files) {
    const auto known = put_.find(name);
    if (known == put_.end() || known->second.version != file.version) continue;
    ++item.files;
    item.bytes += file.version.bytes;
  }
  if (!put) return put;
  if (auto gone = remove_gone(*found, deadline, stop); !gone) return gone;
  const auto text = manifest(*found);
  if (auto written = target_->put_text(text, kManifest, deadline, stop); !written) return written;
  item.digest = "sha256:" + digest::sha256_hex(text);
  return {};
}

api::TransferredItem ResultPush::finish(base::SteadyTime deadline, std::stop_token stop) {
  api::TransferredItem item;
  item.path = wanted_.from;
  for (;;) {
    const auto done = finish_once(item, deadline, stop);
    if (done) {
      item.state = api::transfer_state::kComplete;
      return item;
    }
    item.state = api::transfer_state::kIncomplete;
    item.message = done.error().message;
    // A command that has ended makes no directory any more.
    const bool hopeless = done.error().kind == FailureKind::kNotFound && target_ != nullptr;
    if (hopeless || !may_pass(done.error().kind) || clock_.now() + kPause >= deadline) return item;
    if (!clock_.sleep_for(kPause, stop)) return item;
  }
}

}  // namespace gpupool::carry
