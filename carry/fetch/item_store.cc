// SPDX-License-Identifier: Apache-2.0
#include "fetch/item_store.h"

#include <fstream>
#include <limits>
#include <sstream>

#include "files/directories.h"
#include "files/output_file.h"
#include "files/size_budget.h"
#include "reporting/report_json.h"

namespace gpupool::carry {
namespace {

constexpr char kWhole[] = "report.json";

std::string name_of(std::size_t index) { return "item-" + std::to_string(index) + ".json"; }

}  // namespace

std::optional<std::string> ItemStore::read(const std::string& name) const {
  std::ifstream file(directory_ + "/" + name);
  if (!file) return std::nullopt;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

Outcome<void> ItemStore::write(const std::string& name, const std::string& text) {
  const auto directory = open_directory(directory_);
  if (!directory) return tl::unexpected(directory.error());
  SizeBudget budget(std::numeric_limits<std::int64_t>::max());
  auto file = OutputFile::open(directory->get(), name, "", budget);
  if (!file) return tl::unexpected(file.error());
  if (auto written = file->write(text); !written) return written;
  if (auto done = file->commit(""); !done) return tl::unexpected(done.error());
  return {};
}

std::optional<api::TransferredItem> ItemStore::complete(std::size_t index) const {
  const auto text = read(name_of(index));
  const auto report = text ? base::json::read<api::TransferReport>(*text)
                           : base::Result<api::TransferReport>(api::TransferReport());
  if (!report || report->items.size() != 1) return std::nullopt;
  return report->items.front();
}

Outcome<void> ItemStore::store(std::size_t index, const api::TransferredItem& item) {
  api::TransferReport report;
  report.items.push_back(item);
  return write(name_of(index), to_json(std::move(report), std::numeric_limits<std::size_t>::max()));
}

std::optional<std::string> ItemStore::whole() const { return read(kWhole); }

Outcome<void> ItemStore::store_whole(const std::string& report) { return write(kWhole, report); }

}  // namespace gpupool::carry
