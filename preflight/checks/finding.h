// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace gpupool::checks {

enum class Verdict { kOk, kWarn, kFail };

// The outcome of one check, for people and programs (render.h).
struct Finding {
  std::string name;  // "driver"
  Verdict verdict = Verdict::kOk;
  std::string found;   // one line
  std::string remedy;  // what to do, one step a line; empty when ok
};

// Collects what one check finds and makes its Finding: the worst verdict, with failures before warnings.
// Notes on what is in order are shown only if nothing is wrong. Not thread-safe.
class Judgement {
 public:
  explicit Judgement(std::string name) : name_(std::move(name)) {}

  void note(std::string found) { notes_.push_back(std::move(found)); }
  void warn(std::string found, std::string remedy) {
    warnings_.push_back({std::move(found), std::move(remedy)});
  }
  void fail(std::string found, std::string remedy) {
    failures_.push_back({std::move(found), std::move(remedy)});
  }
  Finding finding() const;

 private:
  struct Problem {
    std::string found;
    std::string remedy;
  };

  std::string name_;
  std::vector<std::string> notes_;
  std::vector<Problem> warnings_;
  std::vector<Problem> failures_;
};

// "1 GPU", "8 GPUs".
std::string counted(std::size_t count, const std::string& what);

}  // namespace gpupool::checks
