// Flipped bits in control.db. SQLite has no checksums of its own; the seals beside the rows are
// what finds a wrong value, and the check of everything is what finds a missing one.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "control/tables.h"
#include "io/rng.h"
#include "support/temp_folder.h"

namespace leat::control {
namespace {

// All that a file says, as text.
Result<std::string> content_of(const Tables& tables) {
  std::string text;
  LEAT_TRY(const Listing listing, tables.list(""));
  for (const KeyValue& one : listing.entries) {
    text += fmt::format("{}={} {} {} {} {}\n", one.key, one.value, one.created.value(),
                        one.modified.value(), one.version, one.lease.value());
  }
  LEAT_TRY(const auto leases, tables.leases());
  for (const Lease& one : leases)
    text += fmt::format("lease {} {}\n", one.id.value(), one.ttl.count());
  LEAT_TRY(const auto history, tables.events(Revision(1), 10'000));
  for (const Event& one : history.events) {
    text += fmt::format("{} {} {} {}\n", one.entry.modified.value(), one.erased, one.entry.key,
                        one.entry.value);
  }
  return text + std::to_string(listing.revision.value());
}

class DamageTest : public ::testing::Test {
 protected:
  DamageTest() {
    folder_.write("control.db", "");
    auto tables = Tables::open(path_, {});
    EXPECT_TRUE(tables.has_value()) << tables.error().message();
    const auto lease = (*tables)->add_lease(std::chrono::seconds(30));
    for (int i = 0; i < 40; ++i) {
      Txn txn;
      const std::string key = fmt::format("key/{:02}", i);
      values_[key] = std::string(static_cast<std::size_t>(20 + 13 * i), static_cast<char>('a' + i));
      txn.then.push_back({.kind = Operation::Kind::put,
                          .key = key,
                          .value = values_[key],
                          .lease = i % 5 == 0 ? *lease : LeaseId()});
      EXPECT_TRUE((*tables)->apply(txn));
    }
    content_ = content_of(**tables).value();
    EXPECT_TRUE((*tables)->check());
    tables->reset();
    original_ = folder_.read("control.db");
  }

  // Opens the damaged file as a node does that does not check it: what it hands out is right.
  void expect_no_wrong_value() {
    const auto tables = Tables::open(path_, {});
    if (!tables) return;
    for (const auto& [key, value] : values_) {
      Txn txn;
      txn.then.push_back({.key = key});
      const auto reply = (*tables)->apply(txn);
      if (!reply || !reply->reads.front()) continue;
      EXPECT_EQ(reply->reads.front()->value, value);
    }
  }

  // True, if opening or the check finds it; else nothing is missing or changed.
  bool is_found() {
    const auto tables = Tables::open(path_, {});
    if (!tables) return true;
    const Status checked = (*tables)->check();
    if (!checked) {
      EXPECT_EQ(checked.error().code(), Errc::corrupt) << checked.error().message();
      return true;
    }
    const auto content = content_of(**tables);
    EXPECT_TRUE(content.has_value()) << content.error().message();
    EXPECT_EQ(content.value_or(""), content_);
    return false;
  }

  testing::TempFolder folder_;
  const std::string path_ = folder_.path("control.db");
  std::map<std::string, std::string> values_;
  std::string content_;
  std::string original_;
};

TEST_F(DamageTest, AFlippedBitIsFoundOrChangesNothing) {
  constexpr std::size_t kStep = 61;
  io::SeededRng rng(11);
  int found = 0;
  int harmless = 0;
  for (std::size_t at = 0; at < original_.size(); at += at < 100 ? 1 : kStep) {
    const auto bit = static_cast<int>(rng.below(8));
    SCOPED_TRACE(fmt::format("byte {} bit {}", at, bit));
    std::string damaged = original_;
    damaged[at] = static_cast<char>(damaged[at] ^ (1 << bit));
    folder_.write("control.db", damaged);
    expect_no_wrong_value();
    folder_.write("control.db", damaged);
    ++(is_found() ? found : harmless);
    if (HasFailure()) return;
  }
  EXPECT_GT(found, harmless) << "most of a page is rows";
}

TEST_F(DamageTest, APageOfZerosOrOfAnotherPlaceIsFoundOrChangesNothing) {
  constexpr std::size_t kPage = 4096;
  const std::size_t pages = original_.size() / kPage;
  ASSERT_GT(pages, 8U);
  int found = 0;
  for (std::size_t page = 0; page < pages; ++page) {
    for (std::size_t from = 0; from <= pages; ++from) {
      SCOPED_TRACE(fmt::format("page {} from {}", page, from));
      const std::string bytes =
          from == pages ? std::string(kPage, '\0') : original_.substr(from * kPage, kPage);
      std::string damaged = original_;
      damaged.replace(page * kPage, kPage, bytes);
      folder_.write("control.db", damaged);
      expect_no_wrong_value();
      folder_.write("control.db", damaged);
      found += is_found() ? 1 : 0;
      if (HasFailure()) return;
    }
  }
  EXPECT_GT(found, static_cast<int>(pages));
}

TEST_F(DamageTest, ACutFileIsFound) {
  for (std::size_t size = 0; size < original_.size(); size += 1024) {
    if (size == 0) continue;  // an empty file is a new one
    SCOPED_TRACE(size);
    folder_.write("control.db", original_.substr(0, size));
    expect_no_wrong_value();
    folder_.write("control.db", original_.substr(0, size));
    EXPECT_TRUE(is_found());
  }
}

TEST_F(DamageTest, ARowThatIsGoneIsFoundByTheCheck) {
  {
    const auto database = Database::open(path_);
    ASSERT_TRUE(database->run("DELETE FROM kv WHERE length(v) = 33"));
  }
  EXPECT_TRUE(is_found());
}

}  // namespace
}  // namespace leat::control
