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

// A kind's Store kept up to date by a Reflector, with handlers that see every change. Handlers run on the
// reflector's thread and only map objects to queue keys: they must not block. Add indexes and handlers before
// the manager starts it.
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
  // Called when a list has been stored, before the handlers hear of it.
  void on_list(std::function<void()> handler) { on_list_.push_back(std::move(handler)); }
  Reflector& reflector() { return reflector_; }
  // The first list was stored and all handlers have seen it.
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
