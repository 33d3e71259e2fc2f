// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <list>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>

namespace gpupool::test {

// One accepted connection, controlled by the script.
class Peer {
 public:
  Peer(int fd, int number) : fd_(fd), number_(number) {}

  // Returns head and body (by Content-Length) of the next request; empty when the client has closed.
  std::string read_request();
  // Returns fewer bytes if the client has closed.
  std::string read_exactly(std::size_t count);
  // Returns false if the client has closed.
  bool write(std::string_view text);
  void wait_until_client_closes();
  // 1 for the server's first connection.
  int number() const { return number_; }

 private:
  bool receive();

  int fd_;
  int number_;
  std::string buffer_;
};

// A TCP server on 127.0.0.1 that runs a script for each connection, on a separate thread, and closes it
// afterwards.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::function<void(Peer&)> script);
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;

  int port() const { return port_; }
  std::string url() const { return "http://127.0.0.1:" + std::to_string(port_); }
  int connections() const { return connections_; }

 private:
  void accept_loop();

  std::function<void(Peer&)> script_;
  int listener_ = -1;
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::mutex mutex_;
  std::list<int> open_;
  bool stopping_ = false;
  std::list<std::jthread> peers_;  // used by the accept thread until it ends
  std::jthread acceptor_;
};

// Returns "HTTP/1.1 200 OK" with this body and its length.
std::string ok(std::string_view body, std::string_view more_headers = "");

}  // namespace gpupool::test
