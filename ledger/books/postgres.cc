// SPDX-License-Identifier: Apache-2.0
#include "books/postgres.h"

#include <libpq-fe.h>

#include <algorithm>
#include <cstdlib>
#include <utility>
#include <vector>

namespace gpupool::ledger {
namespace {

constexpr char kTimeout[] = "10";  // seconds to connect
// Another writer is waited for, as with SQLite. A statement that never ends would hold up everything.
constexpr char kPostgresSettings[] =
    "SET lock_timeout = '5s'; SET statement_timeout = '60s'; SET client_min_messages = warning";
constexpr int kRowsAtOnce = 1000;

struct Clear {
  void operator()(PGresult* result) const { PQclear(result); }
};
using Answer = std::unique_ptr<PGresult, Clear>;

// The one connection, and the transaction in which its cursors are.
class Connection {
 public:
  Connection(PGconn* connection, bool read_only) : connection_(connection), read_only_(read_only) {}

  base::Error problem(const std::string& what) const {
    std::string said = PQerrorMessage(connection_.get());
    while (!said.empty() && said.back() == '\n') said.pop_back();
    return {base::ErrorCode::kIo, what + ": " + said};
  }
  base::Result<void> set_up() {
    if (PQstatus(connection_.get()) != CONNECTION_OK)
      return tl::unexpected<base::Error>(problem("cannot open the books " + name()));
    auto set = send(kPostgresSettings, {});
    if (set && read_only_) set = send("SET default_transaction_read_only = on", {});
    if (!set) return tl::unexpected<base::Error>(set.error());
    return {};
  }
  // Makes a lost connection again, outside transactions.
  base::Result<void> restore() {
    if (PQstatus(connection_.get()) == CONNECTION_OK) return {};
    PQreset(connection_.get());
    cursors_ = 0;
    own_ = false;
    return set_up();
  }
  base::Result<Answer> execute(const std::string& sql, const std::vector<std::string>& values) {
    if (PQtransactionStatus(connection_.get()) == PQTRANS_UNKNOWN) {
      if (auto restored = restore(); !restored) return tl::unexpected<base::Error>(restored.error());
    }
    return send(sql, values);
  }
  // A transaction for reading, unless there is one, which ends with its last cursor.
  base::Result<std::string> add_cursor() {
    if (auto restored = restore(); !restored) return tl::unexpected<base::Error>(restored.error());
    if (PQtransactionStatus(connection_.get()) == PQTRANS_IDLE) {
      auto begun = send("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", {});
      if (!begun) return tl::unexpected<base::Error>(begun.error());
      own_ = true;
    }
    ++cursors_;
    return "cursor_" + std::to_string(++last_);
  }
  void remove_cursor(const std::string& cursor) {
    const bool works = PQtransactionStatus(connection_.get()) == PQTRANS_INTRANS;
    if (works) static_cast<void>(send("CLOSE " + cursor, {}));
    cursors_ = std::max(0, cursors_ - 1);
    if (cursors_ > 0 || !own_) return;
    own_ = false;
    static_cast<void>(send("COMMIT", {}));
  }
  std::string name() const {
    const auto part = [](const char* text) { return std::string(text == nullptr ? "" : text); };
    return "postgresql://" + part(PQhost(connection_.get())) + ":" + part(PQport(connection_.get())) + "/" +
           part(PQdb(connection_.get()));
  }

 private:
  base::Result<Answer> send(const std::string& sql, const std::vector<std::string>& values) {
    std::vector<const char*> parameters;
    parameters.reserve(values.size());
    for (const auto& value : values) parameters.push_back(value.c_str());
    // Several statements at once can have no parameters.
    Answer answer(values.empty()
                      ? PQexec(connection_.get(), sql.c_str())
                      : PQexecParams(connection_.get(), sql.c_str(), static_cast<int>(values.size()), nullptr,
                                     parameters.data(), nullptr, nullptr, 0));
    const auto status = PQresultStatus(answer.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK)
      return tl::unexpected<base::Error>(problem("cannot use the books"));
    return answer;
  }

  struct Finish {
    void operator()(PGconn* connection) const { PQfinish(connection); }
  };
  std::unique_ptr<PGconn, Finish> connection_;
  bool read_only_;
  bool own_ = false;  // the transaction of the cursors is not somebody else's
  int cursors_ = 0;   // that are open
  int last_ = 0;
};

// Rows of an answer, of which more may follow.
class PostgresQuery : public Query {
 public:
  PostgresQuery(Connection& connection, std::string sql) : connection_(connection), sql_(std::move(sql)) {}

  Query& bind(int place, std::int64_t value) override { return bind(place, std::to_string(value)); }
  Query& bind(int place, std::string_view value) override {
    const auto index = static_cast<std::size_t>(place) - 1;
    if (values_.size() <= index) values_.resize(index + 1);
    values_[index] = value;
    return *this;
  }
  base::Result<bool> step() override {
    if (!answer_ || (row_ + 1 >= PQntuples(answer_.get()) && has_more())) {
      auto answer = ask();
      if (!answer) return tl::unexpected<base::Error>(answer.error());
      answer_ = *std::move(answer);
      row_ = -1;
    }
    ++row_;
    return row_ < PQntuples(answer_.get());
  }
  void reset() override {
    answer_.reset();
    values_.clear();
    row_ = -1;
  }
  std::int64_t number(int column) const override {
    return std::strtoll(PQgetvalue(answer_.get(), row_, column), nullptr, 10);
  }
  std::string text(int column) const override { return PQgetvalue(answer_.get(), row_, column); }

 protected:
  virtual base::Result<Answer> ask() { return connection_.execute(sql_, values_); }
  virtual bool has_more() const { return false; }
  Connection& connection() { return connection_; }
  int rows() const { return answer_ ? PQntuples(answer_.get()) : 0; }

 private:
  Connection& connection_;
  std::string sql_;
  std::vector<std::string> values_;
  Answer answer_;
  int row_ = -1;
};

// Reads some rows at a time.
class PostgresCursor final : public PostgresQuery {
 public:
  PostgresCursor(Connection& connection, std::string cursor)
      : PostgresQuery(connection, "FETCH " + std::to_string(kRowsAtOnce) + " FROM " + cursor),
        cursor_(std::move(cursor)) {}
  ~PostgresCursor() override { connection().remove_cursor(cursor_); }
  PostgresCursor(const PostgresCursor&) = delete;
  PostgresCursor& operator=(const PostgresCursor&) = delete;

 protected:
  bool has_more() const override { return rows() == kRowsAtOnce; }

 private:
  std::string cursor_;
};

class PostgresDatabase final : public Database {
 public:
  PostgresDatabase(PGconn* connection, bool read_only) : connection_(connection, read_only) {}

  base::Result<void> set_up() { return connection_.set_up(); }
  base::Result<std::unique_ptr<Query>> prepare(const std::string& sql) override {
    auto text = sql;
    std::ranges::replace(text, '?', '$');  // as PostgreSQL names parameters
    return std::make_unique<PostgresQuery>(connection_, text);
  }
  base::Result<std::unique_ptr<Query>> select(const std::string& sql) override {
    const auto cursor = connection_.add_cursor();
    if (!cursor) return tl::unexpected<base::Error>(cursor.error());
    auto rows = std::make_unique<PostgresCursor>(connection_, *cursor);
    if (auto declared = connection_.execute("DECLARE " + *cursor + " NO SCROLL CURSOR FOR " + sql, {});
        !declared)
      return tl::unexpected<base::Error>(declared.error());
    return rows;
  }
  base::Result<void> run(const std::string& sql) override {
    if (auto done = connection_.execute(sql, {}); !done) return tl::unexpected<base::Error>(done.error());
    return {};
  }
  base::Result<void> begin_write() override {
    if (auto restored = connection_.restore(); !restored) return restored;
    if (auto begun = run("BEGIN"); !begun) return begun;
    auto locked = run("LOCK TABLE entry IN EXCLUSIVE MODE");
    if (!locked) static_cast<void>(run("ROLLBACK"));
    return locked;
  }
  std::string integer() const override { return "BIGINT"; }
  std::string end_of_table() const override { return ""; }
  base::Result<std::string> integrity() override {
    return std::string();
  }  // the server looks after its files
  std::string name() const override { return connection_.name(); }

 private:
  Connection connection_;
};

}  // namespace

base::Result<std::unique_ptr<Database>> open_postgres(const std::string& url, Access access) {
  const char* const keywords[] = {"dbname", "connect_timeout", "application_name", "client_encoding",
                                  nullptr};
  const char* const values[] = {url.c_str(), kTimeout, "gpupool-ledger", "UTF8", nullptr};
  constexpr int kExpand = 1;  // dbname may be a URL
  auto database = std::make_unique<PostgresDatabase>(PQconnectdbParams(keywords, values, kExpand),
                                                     access == Access::kReadOnly);
  if (auto opened = database->set_up(); !opened) return tl::unexpected<base::Error>(opened.error());
  return database;
}

}  // namespace gpupool::ledger
