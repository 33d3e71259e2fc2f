// SPDX-License-Identifier: Apache-2.0
#include "fetch/fetch_item.h"
#include "git/fetch_commit.h"

namespace gpupool::carry {

Outcome<api::TransferredItem> fetch_git_item(const api::SourceItem& item, const ItemPlace& place,
                                             const std::stop_token& stop) {
  GitRequest request;
  request.location = *item.git;
  request.path = item.path;
  if (!item.secret.empty()) request.secret_directory = place.secrets + "/" + item.secret;
  request.scratch = place.scratch;
  request.deadline = place.deadline;
  auto tree = fetch_commit(request, place.root, *place.budget, stop);
  if (!tree) return tl::unexpected(tree.error());
  api::TransferredItem fetched;
  fetched.files = tree->files;
  fetched.bytes = tree->bytes;
  fetched.digest = tree->digest;
  fetched.message = tree->message;
  return fetched;
}

}  // namespace gpupool::carry
