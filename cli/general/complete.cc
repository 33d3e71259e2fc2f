// SPDX-License-Identifier: Apache-2.0
#include "general/complete.h"

#include <chrono>
#include <optional>
#include <utility>

#include "api/v1alpha1/gpu_job.h"
#include "api/v1alpha1/gpu_node.h"
#include "api/v1alpha1/gpu_pool.h"
#include "api/v1alpha1/gpu_sweep.h"
#include "command/deadline.h"
#include "kube/table_list.h"
#include "screen/plain_text.h"

namespace gpupool::general {
namespace {

using command::FlagInfo;
using command::Offer;

constexpr std::chrono::milliseconds kPatience{2000};
constexpr api::ResourceType kNamespaces{"", "v1", "namespaces", "Namespace", false};

struct Offers {
  std::string lines;
  bool files = false;
  std::string text() const { return lines + (files ? ":0\n" : ":4\n"); }
};

void offer(Offers& offers, const std::string& prefix, const std::string& word, const std::string& help = "") {
  if (!word.starts_with(prefix)) return;
  offers.lines += screen::plain_text(word) + (help.empty() ? "" : "\t" + help) + "\n";
}

const FlagInfo* flag_of(const std::vector<FlagInfo>& all, const std::string& word) {
  for (const FlagInfo& flag : all) {
    if (flag.is_argument) continue;
    if (word == "--" + flag.long_name || (flag.short_name != 0 && word == std::string("-") + flag.short_name))
      return &flag;
  }
  return nullptr;
}

// A line as far as it is typed: what of it says where to ask, how many arguments it has, and what comes next.
struct Typed {
  command::GeneralFlags general;
  std::size_t arguments = 0;
  const FlagInfo* open = nullptr;  // the last word is its value
};

void take_general(command::GeneralFlags& general, const std::string& name, const std::string& value) {
  if (name == "namespace") general.ns = value;
  if (name == "context") general.context = value;
  if (name == "kubeconfig") general.kubeconfig = value;
  if (name == "as") general.as = value;
  if (name == "as-group") general.as_groups.push_back(value);
}

// words: without the one that is being typed.
Typed read_line(const std::vector<FlagInfo>& all, const std::vector<std::string>& words) {
  Typed typed;
  for (const std::string& word : words) {
    if (typed.open != nullptr) {
      take_general(typed.general, typed.open->long_name, word);
      typed.open = nullptr;
      continue;
    }
    if (!word.starts_with("-")) {
      ++typed.arguments;
      continue;
    }
    const auto equals = word.find('=');
    const FlagInfo* const flag = flag_of(all, word.substr(0, equals));
    if (flag == nullptr || flag->value_name.empty()) continue;
    if (equals == std::string::npos) {
      typed.open = flag;
    } else {
      take_general(typed.general, flag->long_name, word.substr(equals + 1));
    }
  }
  return typed;
}

class Asking {
 public:
  Asking(base::Clock& clock, std::unique_ptr<command::Session> session)
      : clock_(clock), session_(std::move(session)) {}

  // The first column of a Table is the name.
  void names(const api::ResourceType& type, command::GeneralFlags general, const std::string& prefix,
             Offers& offers) {
    general.request_timeout = kPatience;
    if (!session_) {
      auto opened = command::Session::open(general, clock_);
      if (!opened) return;
      session_ = std::move(*opened);
    }
    const command::Deadline deadline(kPatience, clock_, {});
    const std::string ns = !type.namespaced ? "" : general.ns.empty() ? session_->ns() : general.ns;
    const auto table = kube::read_table(session_->client(), type, ns, "", deadline.token());
    if (!table) return;
    for (const auto& row : table->rows) {
      if (!row.empty()) offer(offers, prefix, row.front());
    }
  }

 private:
  base::Clock& clock_;
  std::unique_ptr<command::Session> session_;
};

void offer_values(const FlagInfo& info, const Typed& typed, const std::string& prefix, Asking& asking,
                  Offers& offers) {
  switch (info.offer) {
    case Offer::kFiles:
      offers.files = true;
      break;
    case Offer::kWords:
      for (const std::string& word : info.words) offer(offers, prefix, word);
      break;
    case Offer::kJobs:
      asking.names(api::GpuJob::kType, typed.general, prefix, offers);
      break;
    case Offer::kSweeps:
      asking.names(api::GpuSweep::kType, typed.general, prefix, offers);
      break;
    case Offer::kPools:
      asking.names(api::GpuPool::kType, typed.general, prefix, offers);
      break;
    case Offer::kNodes:
      asking.names(api::GpuNode::kType, typed.general, prefix, offers);
      break;
    case Offer::kNamespaces:
      asking.names(kNamespaces, typed.general, prefix, offers);
      break;
    case Offer::kContexts:
    case Offer::kNothing:
      break;
  }
}

// The argument at this place; the last one if it may be repeated.
const FlagInfo* argument_at(const std::vector<FlagInfo>& all, std::size_t place) {
  const FlagInfo* last = nullptr;
  std::size_t seen = 0;
  for (const FlagInfo& info : all) {
    if (!info.is_argument) continue;
    last = &info;
    if (seen++ == place) return last;
  }
  return last != nullptr && last->many ? last : nullptr;
}

void offer_flags(const std::vector<FlagInfo>& all, const std::string& prefix, Offers& offers) {
  for (const FlagInfo& flag : all) {
    if (!flag.is_argument) offer(offers, prefix, "--" + flag.long_name, flag.help);
  }
}

}  // namespace

std::string completions(const command::Registry& registry, const std::vector<std::string>& words,
                        base::Clock& clock, std::unique_ptr<command::Session> session) {
  Offers offers;
  const std::string current = words.empty() ? "" : words.back();
  std::vector<std::string> before(words.begin(), words.empty() ? words.end() : std::prev(words.end()));
  for (const std::string& word : before) {
    if (word == "--") {
      offers.files = true;
      return offers.text();
    }
  }
  // Flags of all commands may stand before the command.
  command::GeneralFlags unused;
  command::Flags leading("");
  command::add_general_flags(leading, unused);
  std::size_t at = 0;
  bool is_value = false;
  for (; at < before.size() && (is_value || before[at].starts_with("-")); ++at) {
    const FlagInfo* const flag = is_value ? nullptr : flag_of(leading.all(), before[at]);
    is_value = flag != nullptr && !flag->value_name.empty();
  }
  Asking asking(clock, std::move(session));
  command::Command* command = nullptr;
  command::Flags flags("");
  if (at < before.size()) {
    command = registry.find(before[at]);
    if (command == nullptr) return offers.text();
    before.erase(before.begin() + static_cast<std::ptrdiff_t>(at));
    command->add_flags(flags);
  }
  command::add_general_flags(flags, unused);
  const Typed typed = read_line(flags.all(), before);
  if (typed.open != nullptr) {
    offer_values(*typed.open, typed, current, asking, offers);
  } else if (current.starts_with("-")) {
    offer_flags(flags.all(), current, offers);
  } else if (command == nullptr) {
    for (const auto& entry : registry.entries()) {
      const auto manual = entry.command->manual();
      if (!manual.hidden) offer(offers, current, manual.name, manual.summary);
    }
  } else if (const FlagInfo* const argument = argument_at(flags.all(), typed.arguments)) {
    offer_values(*argument, typed, current, asking, offers);
  }
  return offers.text();
}

}  // namespace gpupool::general
