// SPDX-License-Identifier: Apache-2.0
#include "transfer/trust_store.h"

#include <curl/curl.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <unistd.h>

#include <memory>
#include <new>

namespace gpupool::carry {
namespace {

struct BioCleanup {
  void operator()(BIO* bio) const { BIO_free(bio); }
};
struct CertificateCleanup {
  void operator()(X509* certificate) const { X509_free(certificate); }
};
struct StoreCleanup {
  void operator()(X509_STORE* store) const { X509_STORE_free(store); }
};

// Where libcurl was built to look for them.
void add_system(X509_STORE* store) {
  const auto* const built = curl_version_info(CURLVERSION_NOW);
  if (built->cainfo != nullptr && ::access(built->cainfo, R_OK) == 0)
    X509_STORE_load_file(store, built->cainfo);
  if (built->capath != nullptr && ::access(built->capath, R_OK) == 0)
    X509_STORE_load_path(store, built->capath);
  ERR_clear_error();
}

// Returns how many, or -1.
int add_pem(X509_STORE* store, const std::string& pem) {
  const std::unique_ptr<BIO, BioCleanup> bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  if (!bio) throw std::bad_alloc();
  for (int count = 0;; ++count) {
    const std::unique_ptr<X509, CertificateCleanup> one(
        PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
    if (!one) {
      const bool end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
      ERR_clear_error();
      return end ? count : -1;
    }
    if (X509_STORE_add_cert(store, one.get()) != 1) return -1;
  }
}

}  // namespace

TrustStore::~TrustStore() { X509_STORE_free(store_); }

Outcome<x509_store_st*> TrustStore::get() const {
  const std::lock_guard lock(mutex_);
  if (store_ == nullptr)
    if (auto loaded = load(); !loaded) return tl::unexpected(loaded.error());
  return store_;
}

Outcome<void> TrustStore::load() const {
  std::unique_ptr<X509_STORE, StoreCleanup> store(X509_STORE_new());
  if (!store) throw std::bad_alloc();
  // As libcurl does: an authority that is itself signed by another is enough.
  X509_STORE_set_flags(store.get(), X509_V_FLAG_TRUSTED_FIRST | X509_V_FLAG_PARTIAL_CHAIN);
  add_system(store.get());
  if (!ca_pem_.empty() && add_pem(store.get(), ca_pem_) < 1)
    return failed(FailureKind::kInvalid, "ca.crt of the Secret holds no certificates in PEM form");
  store_ = store.release();
  return {};
}

}  // namespace gpupool::carry
