// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "csv/byte_window.h"
#include "failure/failure.h"

namespace gpupool::carry::csv {

// A field of a row, without the quotes around it.
struct Field {
  const char* begin = nullptr;
  std::uint32_t size = 0;
  bool doubled = false;  // two quotes in it stand for one

  std::string_view raw() const { return {begin, size}; }
  // Returns the value; `scratch` may hold it.
  std::string_view text(std::string& scratch) const { return doubled ? undoubled(scratch) : raw(); }

 private:
  std::string_view undoubled(std::string& scratch) const;
};

enum class RowStatus { kRow, kEnd, kFailed };

// Splits a file into rows and fields (RFC 4180). A line ends with LF, CRLF or CR. As in pandas, lines that
// are empty or have only spaces and tabs are no rows, and a quote within a field that does not begin with one
// is a letter like others. A row of more than 16 MiB is kInvalid. Not thread-safe.
class RowReader {
 public:
  // max_fields: fields beyond are counted and not kept. `source` must outlive the reader.
  RowReader(const SourceFile& source, char delimiter, std::size_t max_fields, bool check_text,
            const std::stop_token& stop);

  // Moves to the next row. What the last row's fields point at is no longer valid then.
  RowStatus next();
  const Failure& failure() const { return failure_; }  // after kFailed

  std::span<const Field> fields() const { return {fields_.data(), std::min(count_, fields_.size())}; }
  std::size_t field_count() const { return count_; }  // also those that are not kept
  std::string_view raw() const { return raw_; }       // the whole row without its end
  bool plain() const { return plain_; }               // there is no quote in it
  bool malformed() const { return malformed_; }       // there is text after a closing quote
  std::int64_t line() const { return line_; }         // where the row begins, counted from 1

 private:
  enum class Step { kRow, kBlank, kMore, kEnd, kFailed };
  Step scan();
  Step scan_quoted(const char* quote);
  Step end_row(const char* field, const char* at);
  Step at_bytes_end(const char* field);
  bool read_more();
  const char* next_mark();
  void restart(const char* row);
  void keep_field(const char* begin, const char* end);
  bool is_blank() const;

  const SourceFile* source_;
  ByteWindow window_;
  char delimiter_;
  std::vector<Field> fields_;
  std::size_t count_ = 0;
  std::string_view raw_;
  bool plain_ = true;
  bool malformed_ = false;
  std::int64_t line_ = 1;
  std::int64_t next_line_ = 1;
  Failure failure_;

  const char* row_ = nullptr;         // where the row begins
  const char* end_ = nullptr;         // of the bytes
  const char* chunk_ = nullptr;       // the 64 bytes that marks_ tells of
  std::uint64_t marks_ = 0;           // those that are still to be seen
  const char* quoted_ = nullptr;      // the text of the quoted field, or null
  const char* quoted_end_ = nullptr;  // its closing quote
  bool doubled_ = false;
};

}  // namespace gpupool::carry::csv
