// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <string>
#include <utility>

#include "failure/failure.h"

struct x509_store_st;

namespace gpupool::carry {

// The certificate authorities that servers are checked against: the system's, and those of a Secret. They are
// loaded once, when the first https connection is made, and shared by all connections. Thread-safe.
class TrustStore {
 public:
  // ca_pem: certificates to trust as well; may be empty.
  explicit TrustStore(std::string ca_pem) : ca_pem_(std::move(ca_pem)) {}
  ~TrustStore();
  TrustStore(const TrustStore&) = delete;
  TrustStore& operator=(const TrustStore&) = delete;

  // Owned by this. kInvalid if ca_pem holds no certificate, or something else.
  Outcome<x509_store_st*> get() const;

 private:
  Outcome<void> load() const;

  const std::string ca_pem_;
  mutable std::mutex mutex_;
  mutable x509_store_st* store_ = nullptr;
};

}  // namespace gpupool::carry
