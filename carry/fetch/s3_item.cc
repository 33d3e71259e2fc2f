// SPDX-License-Identifier: Apache-2.0
#include "fetch/fetch_item.h"
#include "files/directories.h"
#include "s3/fetch.h"

namespace gpupool::carry {

Outcome<api::TransferredItem> fetch_s3_item(const api::SourceItem& item, const ItemPlace& place,
                                            const std::stop_token& stop) {
  const auto secret = item.secret.empty() ? std::string() : place.secrets + "/" + item.secret;
  const s3::Destination to{place.root, *place.budget};
  const s3::Context context{.deadline = place.deadline, .stop = stop};
  api::TransferredItem fetched;
  if (!item.s3->key.empty()) {
    auto written = s3::fetch_object(*item.s3, secret, item.path, item.sha256, to, context);
    if (!written) return tl::unexpected(written.error());
    fetched.files = 1;
    fetched.bytes = written->bytes;
    fetched.digest = "sha256:" + written->sha256;
    return fetched;
  }
  const auto state = open_directory(place.scratch);
  if (!state) return tl::unexpected(state.error());
  auto objects = s3::fetch_prefix(*item.s3, secret, item.path, state->get(), to, context);
  if (!objects) return tl::unexpected(objects.error());
  fetched.files = objects->files;
  fetched.bytes = objects->bytes;
  fetched.digest = "sha256:" + objects->digest;
  return fetched;
}

}  // namespace gpupool::carry
