// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gpupool::command {

// What a shell may offer as the value of a flag or argument.
enum class Offer { kNothing, kFiles, kJobs, kSweeps, kPools, kNodes, kNamespaces, kContexts, kWords };

// One flag or argument, for help, completion and the manual page.
struct FlagInfo {
  std::string long_name = {};   // "namespace"; of an argument its name, "JOB"
  char short_name = 0;          // 'n'; 0: none
  std::string value_name = {};  // "NAMESPACE"; empty: a switch
  std::string help = {};
  Offer offer = Offer::kNothing;
  std::vector<std::string> words = {};  // kWords
  bool is_argument = false;
  bool required = false;
  bool many = false;
  bool general = false;  // of all commands
};

// The flags and arguments of one command. Each call adds one; the variable gets its value in parse() and
// keeps its default else. names: "-n,--namespace", or "--grace" alone. Flags may stand between arguments and
// may be written --name=value. Not thread-safe.
class Flags {
 public:
  // usage_name: "kubectl gpupool list"
  explicit Flags(std::string usage_name);
  ~Flags();
  Flags(const Flags&) = delete;
  Flags& operator=(const Flags&) = delete;

  // The following values must outlive parse().
  void yes(const std::string& names, bool& value, const std::string& help);
  void text(const std::string& names, std::string& value, const std::string& value_name,
            const std::string& help, Offer offer = Offer::kNothing);
  // May be given several times.
  void texts(const std::string& names, std::vector<std::string>& values, const std::string& value_name,
             const std::string& help, Offer offer = Offer::kNothing);
  // Refuses numbers outside of [least, most].
  void number(const std::string& names, std::optional<std::int64_t>& value, const std::string& value_name,
              const std::string& help, std::int64_t least, std::int64_t most);
  void choice(const std::string& names, std::string& value, const std::vector<std::string>& words,
              const std::string& help);
  void duration(const std::string& names, std::optional<std::chrono::milliseconds>& value,
                const std::string& help);

  // Arguments without a flag, in order.
  void argument(const std::string& name, std::string& value, const std::string& help, Offer offer);
  void optional_argument(const std::string& name, std::string& value, const std::string& help, Offer offer);
  void arguments(const std::string& name, std::vector<std::string>& values, const std::string& help,
                 Offer offer);
  void word_argument(const std::string& name, std::string& value, const std::vector<std::string>& words,
                     const std::string& help);
  void number_argument(const std::string& name, std::int64_t& value, const std::string& help,
                       std::int64_t least, std::int64_t most);

  // Flags added from now on are those of all commands.
  void begin_general() { general_ = true; }

  // Fills the variables. kInvalidArgument, with a message for people, if a word does not fit.
  base::Result<void> parse(const std::vector<std::string>& words);
  // Like parse(), but ends before the first word that is no flag and returns the words from there on.
  base::Result<std::vector<std::string>> parse_leading(const std::vector<std::string>& words);

  const std::vector<FlagInfo>& all() const { return all_; }

 private:
  struct Parser;

  void note(const std::string& names, FlagInfo info);

  std::unique_ptr<Parser> parser_;
  std::vector<FlagInfo> all_;
  bool general_ = false;
};

}  // namespace gpupool::command
