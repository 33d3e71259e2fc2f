// SPDX-License-Identifier: Apache-2.0
#include "csv/rewriter.h"

#include <algorithm>

namespace gpupool::carry::csv {
namespace {

constexpr std::size_t kOutput = 256UL * 1024;  // bytes that are written at a time
constexpr std::string_view kOrderMark = "\xef\xbb\xbf";

}  // namespace

Rewriter::Rewriter(const Rules& rules, const std::vector<ColumnDecision>& decisions, KeptRows& kept,
                   char delimiter, OutputFile& to)
    : rules_(&rules),
      decisions_(&decisions),
      kept_(&kept),
      delimiter_(delimiter),
      to_(&to),
      changes_(decisions.size()) {
  busy_.reserve(decisions.size());
  texts_.reserve(decisions.size());
  for (std::size_t i = 0; i < decisions.size(); ++i) {
    const auto& decision = decisions[i];
    if (!decision.fills && !decision.clips) continue;
    busy_.push_back(i);
    texts_.push_back(
        {with_quotes(decision.fill), with_quotes(decision.lower_text), with_quotes(decision.upper_text)});
  }
  replacements_.reserve(busy_.size());
  out_.reserve(kOutput);
}

// A line that looks empty is skipped by those who read it.
bool Rewriter::needs_quotes(std::string_view text) const {
  if (decisions_->size() == 1 && text.find_first_not_of(" \t") == std::string_view::npos) return true;
  return std::any_of(text.begin(), text.end(),
                     [this](char c) { return c == delimiter_ || c == '"' || c == '\n' || c == '\r'; });
}

std::string Rewriter::with_quotes(std::string_view text) const {
  if (!needs_quotes(text)) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted.append(c == '"' ? 2 : 1, c);
  return quoted += '"';
}

Outcome<void> Rewriter::write_header() {
  for (std::size_t i = 0; i < rules_->columns.size(); ++i) {
    const auto& name = rules_->columns[i].name;
    if (i > 0) append({&delimiter_, 1});
    // At the beginning of a file it would be dropped.
    const bool mark = i == 0 && name.starts_with(kOrderMark) && !needs_quotes(name);
    append(mark ? "\"" + name + "\"" : with_quotes(name));
  }
  append("\n");
  return finish();
}

Outcome<void> Rewriter::add(const RowReader& row) {
  if (!kept_->contains(row)) return {};
  ++rows_;
  find_replacements(row);
  if (row.plain()) {
    append_plain(row);
  } else {
    append_parsed(row);
  }
  append("\n");
  return written_;
}

void Rewriter::find_replacements(const RowReader& row) {
  replacements_.clear();
  for (std::size_t i = 0; i < busy_.size(); ++i) {
    const auto column = busy_[i];
    const auto& decision = (*decisions_)[column];
    auto& changes = changes_[column];
    const auto text = row.fields()[column].text(scratch_);
    const auto cell = decision.clips ? read_cell(text) : read_text(text);
    if (cell.kind == CellKind::kMissing) {
      if (!decision.fills) continue;
      replacements_.push_back({column, &texts_[i].fill});
      ++changes.imputed;
      changes.clipped_low += decision.fill_clip == Clip::kLow;
      changes.clipped_high += decision.fill_clip == Clip::kHigh;
      if (decision.clips) changes.sum.add(decision.fill_number);
    } else if (decision.clips) {
      const auto clipped = decision.clip_of(cell.number);
      if (clipped == Clip::kNone) {
        changes.sum.add(cell.number);
        continue;
      }
      const bool low = clipped == Clip::kLow;
      replacements_.push_back({column, low ? &texts_[i].lower : &texts_[i].upper});
      changes.sum.add(low ? decision.lower : decision.upper);
      ++(low ? changes.clipped_low : changes.clipped_high);
    }
  }
}

// Without quotes the row is copied, but for what is replaced.
void Rewriter::append_plain(const RowReader& row) {
  const char* from = row.raw().data();
  for (const auto& [column, text] : replacements_) {
    const auto& field = row.fields()[column];
    append({from, static_cast<std::size_t>(field.begin - from)});
    append(*text);
    from = field.begin + field.size;
  }
  append(row.raw().substr(static_cast<std::size_t>(from - row.raw().data())));
}

void Rewriter::append_parsed(const RowReader& row) {
  auto replacement = replacements_.begin();
  for (std::size_t i = 0; i < row.fields().size(); ++i) {
    if (i > 0) append({&delimiter_, 1});
    if (replacement != replacements_.end() && replacement->column == i) {
      append(*replacement->text);
      ++replacement;
      continue;
    }
    const auto text = row.fields()[i].text(scratch_);
    if (needs_quotes(text)) {
      append(with_quotes(text));
    } else {
      append(text);
    }
  }
}

// The first failure stays in written_.
void Rewriter::append(std::string_view text) {
  if (out_.size() + text.size() > kOutput) {
    flush();
    if (text.size() > kOutput) {
      if (written_) written_ = to_->write(text);
      return;
    }
  }
  out_ += text;
}

void Rewriter::flush() {
  if (written_) written_ = to_->write(out_);
  out_.clear();
}

Outcome<void> Rewriter::finish() {
  flush();
  return written_;
}

}  // namespace gpupool::carry::csv
