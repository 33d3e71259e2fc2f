#include "launcher/timestamp.h"

#include <array>

namespace gpupool::launcher {

std::string rfc3339(std::time_t seconds) {
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  std::array<char, 32> text{};
  const std::size_t length = std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return {text.data(), length};
}

std::string rfc3339_now() { return rfc3339(std::time(nullptr)); }

}  // namespace gpupool::launcher
