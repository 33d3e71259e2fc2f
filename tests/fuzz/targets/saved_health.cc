#include "health/saved_health.h"

#include "tests/fuzz/property.h"

using gpupool::fuzz::require;
namespace health = gpupool::health;

// The boot, a line, then the file.
void fuzz_saved_health(std::string_view input) {
  const auto boot = gpupool::fuzz::take_line(input);
  const std::string text(input);
  health::Book book{gpupool::settings::Settings{}};
  const auto restored = book.restore(text, boot);
  const auto states = health::read_health(text, boot);
  require(restored.has_value() == states.has_value(), "both readers agree");
  if (!states) {
    gpupool::fuzz::require_explained(states.error());
    require(book.states().empty(), "what cannot be read changes nothing");
    return;
  }
  const auto again = health::read_health(health::write_health(*states, boot), boot);
  require(again.has_value(), "what is written can be read");
  require(health::write_health(*again, boot) == health::write_health(*states, boot), "parse(print(x)) == x");
}
