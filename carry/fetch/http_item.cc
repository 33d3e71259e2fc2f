// SPDX-License-Identifier: Apache-2.0
#include <memory>

#include "fetch/fetch_item.h"
#include "transfer/download.h"
#include "transfer/http_credentials.h"
#include "transfer/trust_store.h"

namespace gpupool::carry {

Outcome<api::TransferredItem> fetch_http_item(const api::SourceItem& item, const ItemPlace& place,
                                              const std::stop_token& stop) {
  auto credentials = http_credentials(item.secret.empty() ? "" : place.secrets + "/" + item.secret);
  if (!credentials) return tl::unexpected(credentials.error());
  Download wanted{.url = item.http->url, .headers = std::move(credentials->headers), .path = item.path};
  wanted.sha256 = item.sha256;
  wanted.deadline = place.deadline;
  auto written = download(wanted, place.root, *place.budget, stop,
                          std::make_shared<const TrustStore>(std::move(credentials->ca_pem)));
  if (!written) return tl::unexpected(written.error());
  api::TransferredItem fetched;
  fetched.files = 1;
  fetched.bytes = written->bytes;
  fetched.digest = "sha256:" + written->sha256;
  return fetched;
}

}  // namespace gpupool::carry
