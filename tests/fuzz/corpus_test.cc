// SPDX-License-Identifier: Apache-2.0
// Runs every file of every corpus: what a fuzzer has found once stays found.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#define TARGET(name) void fuzz_##name(std::string_view input);
#include "targets.inc"
#undef TARGET

namespace gpupool::fuzz {
namespace {

struct Target {
  const char* name;
  void (*run)(std::string_view input);
};

const std::vector<Target>& targets() {
  static const std::vector<Target> all{
#define TARGET(name) {#name, fuzz_##name},
#include "targets.inc"
#undef TARGET
  };
  return all;
}

std::filesystem::path folder_of(const std::string& name) {
  return std::filesystem::path(CORPUS_FOLDER) / name;
}

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Corpus : public testing::TestWithParam<Target> {};

TEST_P(Corpus, EveryFile) {
  const auto [name, run] = GetParam();
  int files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder_of(name))) {
    SCOPED_TRACE(entry.path().string());
    const std::string input = content(entry.path());
    EXPECT_NO_THROW(run(input));
    ++files;
  }
  EXPECT_GT(files, 0) << "the corpus is empty";
}

INSTANTIATE_TEST_SUITE_P(Fuzz, Corpus, testing::ValuesIn(targets()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Corpora, EachBelongsToATarget) {
  std::size_t folders = 0;
  for (const auto& entry : std::filesystem::directory_iterator(CORPUS_FOLDER)) {
    folders += entry.is_directory() ? 1U : 0U;
  }
  EXPECT_EQ(folders, targets().size());
}

}  // namespace
}  // namespace gpupool::fuzz
