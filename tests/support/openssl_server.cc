// SPDX-License-Identifier: Apache-2.0
#include "tests/support/openssl_server.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace gpupool::test {

namespace {

// Starts `openssl ARGUMENTS...` with its output going to `output`.
pid_t start_openssl(std::vector<std::string> arguments, int output) {
  arguments.insert(arguments.begin(), "openssl");
  std::vector<char*> argv;
  for (auto& argument : arguments) argv.push_back(argument.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output, 1);
  posix_spawn_file_actions_adddup2(&actions, output, 2);
  pid_t pid = -1;
  const int failed = ::posix_spawnp(&pid, "openssl", &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) throw std::runtime_error("cannot start openssl");
  return pid;
}

void run_openssl(const std::vector<std::string>& arguments) {
  const int null = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  const pid_t pid = start_openssl(arguments, null);
  ::close(null);
  int status = 0;
  if (::waitpid(pid, &status, 0) != pid || status != 0) {
    throw std::runtime_error("openssl " + arguments.front() + " failed");
  }
}

std::string contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TestCertificates::TestCertificates() {
  std::string name = (std::filesystem::temp_directory_path() / "gpupool-certs-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make " + name);
  folder_ = name;
}

TestCertificates::~TestCertificates() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

void TestCertificates::make_authority(const std::string& name) {
  run_openssl({"req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days",
               "2", "-subj", "/CN=" + name, "-keyout", key_path(name), "-out", cert_path(name)});
}

void TestCertificates::make(const std::string& name, const std::string& alt_name,
                            const std::string& authority) {
  const std::string request = (folder_ / (name + ".csr")).string();
  const std::string extensions = (folder_ / (name + ".ext")).string();
  std::ofstream(extensions) << "subjectAltName=" << alt_name << "\n";
  run_openssl({"req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
               "/CN=" + name, "-keyout", key_path(name), "-out", request});
  run_openssl({"x509", "-req", "-in", request, "-CA", cert_path(authority), "-CAkey", key_path(authority),
               "-CAcreateserial", "-days", "2", "-extfile", extensions, "-out", cert_path(name)});
}

std::string TestCertificates::cert(const std::string& name) const { return contents(cert_path(name)); }
std::string TestCertificates::key(const std::string& name) const { return contents(key_path(name)); }

OpensslServer::OpensslServer(int port, const std::vector<std::string>& arguments) {
  std::vector<std::string> all{"s_server", "-www", "-accept", "127.0.0.1:" + std::to_string(port)};
  all.insert(all.end(), arguments.begin(), arguments.end());
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
  pid_ = start_openssl(all, pipe[1]);
  ::close(pipe[1]);
  output_ = pipe[0];

  // "ACCEPT 127.0.0.1:12345"; a port that was given is not repeated.
  std::string text;
  char c = 0;
  const std::string sign = "ACCEPT";
  while (::read(output_, &c, 1) == 1) {
    text += c;
    const std::size_t found = text.find(sign);
    if (c == '\n' && found != std::string::npos) {
      const std::size_t colon = text.find(':', found);
      port_ = port != 0 ? port : std::stoi(text.substr(colon + 1));
      return;
    }
  }
  throw std::runtime_error("openssl s_server did not start: " + text);
}

OpensslServer::~OpensslServer() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
  ::close(output_);
}

}  // namespace gpupool::test
