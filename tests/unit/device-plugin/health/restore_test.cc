#include "tests/unit/device-plugin/health/book_fixture.h"

namespace gpupool::health {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

class RestoreTest : public BookTest {
 protected:
  // Another plugin process, which has not seen the driver yet.
  Book restarted(const std::string& saved, const std::string& boot_id = "boot-1") {
    Book next{settings};
    const auto restored = next.restore(saved, boot_id);
    EXPECT_TRUE(restored) << (restored ? "" : restored.error().message);
    return next;
  }
};

TEST_F(RestoreTest, ASickGpuStaysSick) {
  xid("GPU-a", 79);
  pass(5);
  reset_needed("GPU-a");
  failing("GPU-b");
  const auto before = book.states();
  book = restarted(book.save("boot-1"));
  EXPECT_EQ(book.states(), before);
  list({"GPU-a", "GPU-b"});
  EXPECT_EQ(book.states(), before);
}

TEST_F(RestoreTest, CleanProbesStartAnew) {
  failing("GPU-a");
  clean_seconds("GPU-a", 9);
  book = restarted(book.save("boot-1"));
  list({"GPU-a", "GPU-b"});
  clean_seconds("GPU-a", 2);
  EXPECT_FALSE(state("GPU-a").healthy);
  clean_seconds("GPU-a", 1);
  EXPECT_TRUE(state("GPU-a").healthy);
}

TEST_F(RestoreTest, ARebootHasResetAll) {
  xid("GPU-a", 79);
  book = restarted(book.save("boot-1"), "boot-2");
  EXPECT_THAT(book.states(), IsEmpty());
}

TEST_F(RestoreTest, HealthyGpusAreNotSaved) {
  EXPECT_EQ(book.save("boot-1"), "{\"version\": 1, \"bootID\": \"boot-1\", \"gpus\": {}}\n");
  clean_seconds("GPU-a", 5);
  EXPECT_EQ(book.save("boot-1"), "{\"version\": 1, \"bootID\": \"boot-1\", \"gpus\": {}}\n");
}

TEST_F(RestoreTest, AnyTextSurvives) {
  book.driver_gone("a \"quoted\"\n\\ line \xC3\xA4", now);
  const auto before = book.states();
  book = restarted(book.save("boot \"1\""), "boot \"1\"");
  EXPECT_EQ(book.states(), before);
}

TEST_F(RestoreTest, WhatIsNoSavedHealthIsRefusedAndChangesNothing) {
  xid("GPU-a", 79);
  const auto before = book.states();
  for (const char* text :
       {"", "{", "[]", "{}", R"({"version": 2, "bootID": "boot-1", "gpus": {}})",
        R"({"version": 1, "bootID": "boot-1", "gpus": [1]})",
        R"({"version": 1, "bootID": "boot-1", "gpus": {"GPU-a": {"since": "yesterday"}}})"}) {
    const auto restored = book.restore(text, "boot-1");
    ASSERT_FALSE(restored) << text;
    EXPECT_EQ(restored.error().code, base::ErrorCode::kParse) << text;
    EXPECT_EQ(book.states(), before) << text;
  }
  EXPECT_THAT(book.restore(R"({"version": 2})", "b").error().message, HasSubstr("version 2"));
}

}  // namespace
}  // namespace gpupool::health
