// SPDX-License-Identifier: Apache-2.0
#include "server/visitor_key.h"

#include <openssl/crypto.h>
#include <openssl/rand.h>

#include <array>

namespace gpupool::web {

base::Result<std::string> new_visitor_key() {
  std::array<unsigned char, 16> bytes{};
  if (RAND_bytes(bytes.data(), static_cast<int>(bytes.size())) != 1)
    return base::fail(base::ErrorCode::kIo, "the system has no random numbers");
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string key;
  for (const unsigned char byte : bytes) {
    key += kDigits[byte >> 4U];
    key += kDigits[byte & 15U];
  }
  return key;
}

KeyVisitors::KeyVisitors(std::string key, kube::Client& client, std::shared_ptr<const logs::KeptLogs> kept,
                         const std::string& ledger_prefix)
    : key_(std::move(key)), client_(&client, [](kube::Client*) {}), kept_(std::move(kept)) {
  if (!ledger_prefix.empty()) ledger_ = Ledger{client_, ledger_prefix};
}

base::Result<Visitor> KeyVisitors::of(const net::ServerRequest& request) {
  const std::string_view given = request.header("X-Gpupool-Key");
  if (given.size() != key_.size() || CRYPTO_memcmp(given.data(), key_.data(), key_.size()) != 0) {
    return tl::unexpected<base::Error>(
        {base::ErrorCode::kUnauthorized,
         "open the address that kubectl gpupool web has printed: it holds a key", 401});
  }
  return Visitor{client_, kept_, ledger_, "local"};
}

}  // namespace gpupool::web
