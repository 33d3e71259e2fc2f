// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "runtime/cache/store.h"
#include "runtime/cache/watch_event.h"
#include "runtime/watch/reflector.h"

namespace gpupool::runtime {

// The Store of one kind, kept up to date by a Reflector, and the handlers of its changes. Handlers run on the
// reflector's thread, in the order of the changes. They only map objects to queue keys and must not block.
// Owns the store and the reflector. The store is thread-safe; the rest is for set-up and the reflector's
// thread.
// REQUIRES: indexes and handlers are added before the manager starts the reflector.
template <class K>
class Informer final : private ReflectorSink {
 public:
  using Handler = std::function<void(const Change<K>&)>;

  Informer(kube::Client& client, ReflectorOptions options, base::Clock& clock, base::Metrics& metrics,
           const base::Log& log)
      : reflector_(client, K::kType, std::move(options), *this, clock, metrics, log), writer_(store_) {}

  Store<K>& store() { return store_; }
  const Store<K>& store() const { return store_; }
  void on_change(Handler handler) { handlers_.push_back(std::move(handler)); }
  // Called when a list has been stored, before on_change handlers get its changes.
  void on_list(std::function<void()> handler) { on_list_.push_back(std::move(handler)); }
  // Stores one event of the watch and passes it to the handlers. Called by the reflector's thread, and by
  // tests.
  void apply(K object) { tell(writer_.apply(std::move(object))); }
  void remove(const api::ObjectKey& key) { tell(writer_.remove(key)); }
  Reflector& reflector() { return reflector_; }
  // True once the first list is stored and all handlers have seen it.
  bool synced() const { return reflector_.synced(); }

 private:
  base::Result<void> item(std::string_view text) override;
  void commit() override;
  void abandon() override { std::exchange(collected_, {}); }
  base::Result<std::string> event(std::string_view type, std::string_view line) override;

  void keep_known(std::string_view broken);
  void tell(const Change<K>& change) const;

  Store<K> store_;
  Reflector reflector_;
  StoreWriter<K> writer_;
  std::vector<std::shared_ptr<const K>> collected_;
  std::vector<Handler> handlers_;
  std::vector<std::function<void()>> on_list_;
  bool committed_ = false;
};

}  // namespace gpupool::runtime

#include "runtime/cache/informer_inl.h"
