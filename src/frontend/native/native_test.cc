#include "native/native.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <set>

#include "http1/uri.h"
#include "support/http_world.h"
#include "support/store_world.h"

namespace leat::native {
namespace {

using nlohmann::json;
using testing::Answer;
using testing::RawClient;

std::string pattern(std::size_t size, std::uint64_t seed) {
  std::string text(size, '\0');
  io::SeededRng(seed).fill(std::as_writable_bytes(std::span(text)));
  return text;
}

class NativeTest : public ::testing::Test {
 protected:
  NativeTest() {
    EXPECT_TRUE(rig_.open());
    EXPECT_TRUE(rig_.disk(0).make_directories("/node"));
    EXPECT_TRUE(keys_.open(0));
    keys_.add(http_.world.shard(), pool_);
    api_ = std::make_unique<NativeApi>(rig_.store(), rig_, keys_, *http_.logger);
    api_->install(http_.dispatcher);
    EXPECT_EQ(ask("PUT", "/_/v1/buckets/photos").status, 201);
  }
  // The server is drained before what it serves goes.
  ~NativeTest() override { http_.stop(); }

  static testing::HttpWorldOptions http_options(const http::Router& router) {
    testing::HttpWorldOptions options;
    options.router = &router;
    return options;
  }

  // One request on a connection of its own; `fields` end in CRLF each.
  Answer ask(std::string_view method, std::string_view target, std::string_view fields = "",
             std::string_view body = "") {
    RawClient client(http_);
    std::string request = std::string(method) + " " + std::string(target) +
                          " HTTP/1.1\r\nHost: server\r\n" + std::string(fields);
    if (method == "PUT" || !body.empty()) {
      request += "Content-Length: " + std::to_string(body.size()) + "\r\n";
    }
    return client.ask(request + "\r\n" + std::string(body), method == "HEAD" ? "H" : "");
  }
  Answer put(std::string_view key, std::string_view body, std::string_view fields = "") {
    return ask("PUT", object(key), fields, body);
  }
  Answer get(std::string_view key, std::string_view fields = "") {
    return ask("GET", object(key), fields);
  }
  json list(const std::string& query = "") {
    const Answer answer = ask("GET", "/_/v1/list/photos" + query);
    EXPECT_EQ(answer.status, 200) << answer.body;
    return json::parse(answer.body, nullptr, false);
  }
  static std::string object(std::string_view key) {
    return "/_/v1/objects/photos/" + std::string(key);
  }
  static std::string error_in(const Answer& answer) {
    return json::parse(answer.body, nullptr, false).value("error", "(none)");
  }

  NativeRouter router_;
  testing::HttpWorld http_{http_options(router_)};
  test::StoreWorld rig_{http_.world, *http_.logger, 2};
  io::SeededRng rng_{7};
  rt::BlockingPool pool_{"sim", 0, 16};
  keys::KeyStore keys_{rig_.disk(0), rng_, "/node/keys.json"};
  std::unique_ptr<NativeApi> api_;
};

// Routes.

TEST_F(NativeTest, EveryRouteTakesItsMethodsAndNamesThem) {
  struct Route {
    std::string_view target;
    std::string_view allowed;
  };
  constexpr std::string_view kMethods[] = {"GET", "HEAD", "PUT", "DELETE", "POST", "OPTIONS"};
  for (const Route& route :
       {Route{"/_/v1/buckets", "GET, HEAD"}, Route{"/_/v1/buckets/", "GET, HEAD"},
        Route{"/_/v1/buckets/other", "PUT, DELETE"}, Route{"/_/v1/list/photos", "GET, HEAD"},
        Route{"/_/v1/disks", "GET, HEAD, POST"}, Route{"/_/v1/disks/none", "DELETE"},
        Route{"/_/v1/keys", "GET, HEAD, POST"}, Route{"/_/v1/keys/none", "DELETE"},
        Route{"/_/v1/objects/photos/k", "GET, HEAD, PUT, DELETE, POST"}}) {
    for (const std::string_view method : kMethods) {
      const Answer answer = ask(method, route.target);
      if (route.allowed.find(method) != std::string_view::npos) {
        EXPECT_NE(answer.status, 405) << method << " " << route.target;
        continue;
      }
      EXPECT_EQ(answer.status, 405) << method << " " << route.target;
      EXPECT_EQ(answer.field("allow"), route.allowed) << method << " " << route.target;
    }
  }
  EXPECT_EQ(ask("BREW", "/_/v1/buckets").status, 501);
  for (const std::string_view target : {"/_/v1/nothing", "/_/v1/bucketsX", "/_/v1/disksX",
                                        "/_/v1/keysX", "/", "/_/v1/list", "/_/v1/objects"}) {
    EXPECT_EQ(ask("GET", target).status, 404) << target;
  }
}

TEST_F(NativeTest, NothingIsAnsweredWithoutTheToken) {
  ASSERT_EQ(put("k", "secret").status, 201);
  for (const std::string_view who : {"anonymous", "same_machine"}) {
    const std::string fields = "x-auth: " + std::string(who) + "\r\n";
    for (const std::string_view target :
         {"/_/v1/buckets", "/_/v1/list/photos", "/_/v1/objects/photos/k"}) {
      EXPECT_EQ(ask("GET", target, fields).status, 401) << who << " " << target;
    }
    EXPECT_EQ(ask("PUT", "/_/v1/buckets/mine", fields).status, 401) << who;
    EXPECT_EQ(ask("DELETE", "/_/v1/buckets/photos", fields).status, 401) << who;
    EXPECT_EQ(put("k", "x", fields).status, 401) << who;
    EXPECT_EQ(ask("DELETE", object("k"), fields).status, 401) << who;
    EXPECT_EQ(ask("POST", object("k?undelete"), fields).status, 401) << who;
  }
  EXPECT_EQ(ask("GET", "/_/v1/buckets", "x-auth: wrong\r\n").status, 403);
  // How the disks are is for this machine, as the metrics are.
  EXPECT_EQ(ask("GET", "/_/v1/disks", "x-auth: anonymous\r\n").status, 401);
  EXPECT_EQ(ask("GET", "/_/v1/disks", "x-auth: same_machine\r\n").status, 200);
  EXPECT_EQ(get("k").body, "secret");
}

// Buckets.

TEST_F(NativeTest, BucketsAreMadeCountedAndRemoved) {
  const Answer made = ask("PUT", "/_/v1/buckets/ten.days", "",
                          R"({"durability": "group", "undo_window_ms": 864000000})");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(json::parse(made.body), json::parse(R"({"name": "ten.days", "durability": "group",
                                                    "undo_window_ms": 864000000,
                                                    "versioning": "off"})"));
  EXPECT_EQ(ask("PUT", "/_/v1/buckets/ten.days").status, 409);
  ASSERT_EQ(put("a", "12345").status, 201);
  const json all = json::parse(ask("GET", "/_/v1/buckets").body)["buckets"];
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0]["name"], "photos");
  EXPECT_EQ(all[0]["durability"], "sync");
  EXPECT_EQ(all[0]["objects"], 1);
  EXPECT_EQ(all[0]["bytes"], 5);
  EXPECT_EQ(all[1]["name"], "ten.days");
  EXPECT_EQ(all[1]["undo_window_ms"], 864000000);
  EXPECT_EQ(ask("HEAD", "/_/v1/buckets").status, 200);

  EXPECT_EQ(ask("DELETE", "/_/v1/buckets/photos").status, 409) << "not empty";
  EXPECT_EQ(ask("DELETE", object("a")).status, 204);
  EXPECT_EQ(ask("DELETE", "/_/v1/buckets/photos").status, 204);
  EXPECT_EQ(ask("DELETE", "/_/v1/buckets/photos").status, 404);
  EXPECT_EQ(ask("GET", "/_/v1/list/photos").status, 404);
  EXPECT_EQ(put("a", "x").status, 404);
}

TEST_F(NativeTest, BucketNamesFollowTheRulesOfS3) {
  for (const std::string& good : {std::string("abc"), std::string("0-9.z"), std::string(63, 'x')})
    EXPECT_EQ(ask("PUT", "/_/v1/buckets/" + good).status, 201) << good;
  for (const std::string& bad :
       {std::string("ab"), std::string(64, 'x'), std::string("Abc"), std::string("-abc"),
        std::string("abc-"), std::string(".abc"), std::string("a..b"), std::string("a_b"),
        std::string("a%2Fb"), std::string("a/b"), std::string("a%20b"), std::string("%00%00%00"),
        std::string("%C3%A4bc")}) {
    const Answer answer = ask("PUT", "/_/v1/buckets/" + bad);
    EXPECT_EQ(answer.status, 400) << bad;
    EXPECT_EQ(error_in(answer), "bad_request") << bad;
  }
  EXPECT_EQ(ask("PUT", "/_/v1/buckets/%zz").status, 400);
}

TEST_F(NativeTest, ABadBodyMakesNoBucket) {
  for (const std::string_view body :
       {"{", "[]", "1", "\"sync\"", R"({"durability": "fast"})", R"({"durability": 1})",
        R"({"undo_window_ms": -1})", R"({"undo_window_ms": "1"})", R"({"undo_window_ms": 1.5})",
        R"({"colour": "red"})", "{} {}"}) {
    const Answer answer = ask("PUT", "/_/v1/buckets/new", "", body);
    EXPECT_EQ(answer.status, 400) << body;
  }
  EXPECT_EQ(ask("PUT", "/_/v1/buckets/new", "", std::string(70'000, ' ')).status, 413);
  EXPECT_EQ(ask("GET", "/_/v1/list/new").status, 404);
  EXPECT_EQ(ask("PUT", "/_/v1/buckets/new", "", "{}").status, 201);
}

// Objects.

TEST_F(NativeTest, AnObjectIsReadBackWithItsFields) {
  const Answer made =
      put("cat.jpg", "meow", "Content-Type: image/jpeg\r\nX-Leat-Meta-Split: a\r\n");
  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.field("x-leat-durability"), "sync");
  const json said = json::parse(made.body);
  EXPECT_EQ(said["size"], 4);
  EXPECT_EQ(made.field("etag"), "\"" + said["etag"].get<std::string>() + "\"");
  EXPECT_EQ(made.field("x-leat-version"), std::to_string(said["version"].get<int>()));
  const Answer got = get("cat.jpg");
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "meow");
  EXPECT_EQ(got.field("content-type"), "image/jpeg");
  EXPECT_EQ(got.field("x-leat-meta-split"), "a");
  EXPECT_EQ(got.field("x-leat-version"), made.field("x-leat-version"));
  const Answer head = ask("HEAD", object("cat.jpg"));
  EXPECT_EQ(head.status, 200);
  for (const std::string_view name : {"etag", "content-length", "content-type", "last-modified",
                                      "x-leat-meta-split", "x-leat-version", "accept-ranges"}) {
    EXPECT_EQ(head.field(name), got.field(name)) << name;
  }
  put("plain", "x");
  EXPECT_EQ(get("plain").field("content-type"), "application/octet-stream");
}

TEST_F(NativeTest, BodiesOfAllSizesWithAndWithoutALength) {
  for (const std::size_t size : {0UL, 1UL, 65'536UL, 81'920UL, 81'921UL, 300'000UL}) {
    const std::string data = pattern(size, size);
    ASSERT_EQ(put("known", data).status, 201) << size;
    EXPECT_TRUE(get("known").body == data) << size;
    RawClient client(http_);
    std::string request =
        "PUT " + object("chunked") + " HTTP/1.1\r\nHost: s\r\nTransfer-Encoding: chunked\r\n\r\n";
    for (std::size_t at = 0; at < size; at += 50'000) {
      const std::string piece = data.substr(at, 50'000);
      request += fmt::format("{:x}\r\n{}\r\n", piece.size(), piece);
    }
    ASSERT_EQ(client.ask(request + "0\r\n\r\n").status, 201) << size;
    EXPECT_TRUE(get("chunked").body == data) << size;
    EXPECT_EQ(get("chunked").field("etag"), get("known").field("etag")) << size;
  }
}

TEST_F(NativeTest, KeysAreDecodedOnceAndAreBytes) {
  const std::vector<std::string> keys = {
      std::string("a b"),         std::string("%41"),
      std::string("/leading"),    std::string("a//b"),
      std::string(".."),          std::string("../../etc/passwd"),
      std::string("a?b#c&d=e+f"), std::string("\0\1\n\r\xFF\xC3\x28", 7),
      std::string(1024, '\xFE')};
  for (const std::string& key : keys) {
    const std::string target = http1::percent_encode(key, http1::Slash::keep);
    ASSERT_EQ(put(target, key).status, 201) << target;
    EXPECT_EQ(get(target).body, key) << target;
    EXPECT_EQ(get(http1::percent_encode(key, http1::Slash::encode)).body, key) << target;
  }
  // The listing gives every one of them back, byte for byte.
  std::set<std::string> listed;
  const json page = list("?encoding=url");
  for (const json& one : page["objects"])
    listed.insert(*http1::percent_decode(one["key"].get<std::string>()));
  EXPECT_EQ(listed, std::set<std::string>(keys.begin(), keys.end()));
  EXPECT_EQ(list()["objects"].size(), keys.size()) << "also as JSON text";

  EXPECT_EQ(put(std::string(1025, 'k'), "x").status, 400);
  EXPECT_EQ(put("", "x").status, 400);
  EXPECT_EQ(put("%zz", "x").status, 400);
  EXPECT_EQ(ask("PUT", "/_/v1/objects/photos", "", "x").status, 400);
  EXPECT_EQ(ask("GET", "/_/v1/objects/nothing/k").status, 404);
}

TEST_F(NativeTest, RangesOfSmallAndLargeObjects) {
  for (const std::size_t size : {10UL, 200'000UL}) {
    const std::string data = pattern(size, size);
    ASSERT_EQ(put("k", data).status, 201);
    const std::string all = std::to_string(size);
    const Answer middle = get("k", "Range: bytes=2-5\r\n");
    EXPECT_EQ(middle.status, 206);
    EXPECT_EQ(middle.body, data.substr(2, 4));
    EXPECT_EQ(middle.field("content-range"), "bytes 2-5/" + all);
    EXPECT_EQ(get("k", "Range: bytes=-3\r\n").body, data.substr(size - 3));
    EXPECT_TRUE(get("k", "Range: bytes=1-\r\n").body == data.substr(1));
    const Answer outside = get("k", "Range: bytes=" + all + "-\r\n");
    EXPECT_EQ(outside.status, 416);
    EXPECT_EQ(outside.field("content-range"), "bytes */" + all);
    EXPECT_EQ(ask("HEAD", object("k"), "Range: bytes=2-5\r\n").status, 200);
  }
  ASSERT_EQ(put("empty", "").status, 201);
  EXPECT_EQ(get("empty").field("content-length"), "0");
  EXPECT_EQ(get("empty", "Range: bytes=0-\r\n").status, 416);
}

TEST_F(NativeTest, ConditionsOfReads) {
  const std::string etag = put("k", "1").field("etag");
  EXPECT_EQ(get("k", "If-None-Match: " + etag + "\r\n").status, 304);
  EXPECT_EQ(get("k", "If-None-Match: \"x\"\r\n").status, 200);
  EXPECT_EQ(get("k", "If-Match: " + etag + "\r\n").status, 200);
  EXPECT_EQ(get("k", "If-Match: \"x\"\r\n").status, 412);
  EXPECT_EQ(get("k", "Range: bytes=0-0\r\nIf-Range: \"x\"\r\n").status, 200);
}

TEST_F(NativeTest, ConditionsOfChangesAreCompareAndSwap) {
  const std::string absent = "If-None-Match: *\r\n";
  const Answer first = put("k", "1", absent);
  ASSERT_EQ(first.status, 201);
  EXPECT_EQ(put("k", "2", absent).status, 412);
  const std::string match = "If-Match: " + first.field("etag") + "\r\n";
  EXPECT_EQ(put("k", "2", match).status, 201);
  EXPECT_EQ(put("k", "3", match).status, 412);
  EXPECT_EQ(ask("DELETE", object("k"), match).status, 412);
  EXPECT_EQ(put("other", "1", match).status, 412);
  EXPECT_EQ(get("k").body, "2");
  EXPECT_EQ(ask("DELETE", object("k"), "If-Match: " + get("k").field("etag") + "\r\n").status, 204);
  EXPECT_EQ(ask("DELETE", object("k")).status, 404);
  EXPECT_EQ(get("k").status, 404);
  EXPECT_EQ(error_in(get("k")), "not_found");
}

TEST_F(NativeTest, ConditionsThatAreNotKnownAreRefusedAndNotIgnored) {
  ASSERT_EQ(put("k", "1").status, 201);
  for (const std::string_view fields :
       {"If-None-Match: \"x\"\r\n", "If-Match: *\r\n", "If-Match: \"a\", \"b\"\r\n",
        "If-Match: bare\r\n", "If-Unmodified-Since: Wed, 01 Jan 2020 00:00:00 GMT\r\n"}) {
    EXPECT_EQ(put("k", "2", fields).status, 501) << fields;
    EXPECT_EQ(ask("DELETE", object("k"), fields).status, 501) << fields;
  }
  EXPECT_EQ(put("k", "2", "Content-Range: bytes 0-0/1\r\n").status, 400);
  EXPECT_EQ(get("k").body, "1");
}

TEST_F(NativeTest, APutNeedsALength) {
  RawClient client(http_);
  const Answer answer = client.ask("PUT " + object("k") + " HTTP/1.1\r\nHost: s\r\n\r\n");
  EXPECT_EQ(answer.status, 411);
  EXPECT_EQ(get("k").status, 404);
}

TEST_F(NativeTest, ABodyThatBreaksOffStoresNothing) {
  ASSERT_EQ(put("k", "old").status, 201);
  for (const std::size_t size : {std::size_t{100}, std::size_t{300'000}}) {
    for (const std::string_view framing :
         {"Content-Length: 1000000", "Transfer-Encoding: chunked"}) {
      RawClient client(http_);
      std::string request =
          "PUT " + object("k") + " HTTP/1.1\r\nHost: s\r\n" + std::string(framing) + "\r\n\r\n";
      if (framing.starts_with("T")) request += fmt::format("{:x}\r\n", size + 1);
      client.send(request + std::string(size, 'n'));
      ASSERT_TRUE(http_.world.run_until([&] { return client.sent_all(); }));
      client.leave();
      http_.world.run_for(std::chrono::seconds(1));
      EXPECT_EQ(get("k").body, "old") << size << " " << framing;
    }
  }
  for (std::size_t i = 0; i < rig_.disk_count(); ++i)
    EXPECT_TRUE(rig_.disk(i).list("d" + std::to_string(i) + "/incoming")->empty()) << "disk " << i;
  EXPECT_EQ(rig_.buffers().in_use(), 0U);
}

TEST_F(NativeTest, DeletedObjectsComeBackWithinTheWindow) {
  EXPECT_EQ(ask("POST", object("k?undelete")).status, 404);
  ASSERT_EQ(ask("PUT", "/_/v1/buckets/undo", "", R"({"undo_window_ms": 60000})").status, 201);
  const std::string target = "/_/v1/objects/undo/k";
  const Answer made = ask("PUT", target, "", "precious");
  ASSERT_EQ(made.status, 201);
  ASSERT_EQ(ask("DELETE", target).status, 204);
  EXPECT_EQ(ask("GET", target).status, 404);
  const Answer back = ask("POST", target + "?undelete");
  EXPECT_EQ(back.status, 200);
  EXPECT_EQ(back.field("etag"), made.field("etag"));
  EXPECT_EQ(ask("GET", target).body, "precious");
  ASSERT_EQ(ask("DELETE", target).status, 204);
  http_.world.run_for(std::chrono::minutes(2));
  EXPECT_EQ(ask("POST", target + "?undelete").status, 404);
}

TEST_F(NativeTest, CopiesAcrossBucketsKeepBytesAndFields) {
  ASSERT_EQ(ask("PUT", "/_/v1/buckets/backup").status, 201);
  const std::string data = pattern(200'000, 1);
  const Answer made = put("a%2Fb%20c", data, "Content-Type: text/x\r\nx-leat-meta-a: 1\r\n");
  ASSERT_EQ(made.status, 201);
  const std::string target = "/_/v1/objects/backup/k";
  const Answer copied = ask("POST", target + "?copy=photos/a/b%20c");
  EXPECT_EQ(copied.status, 201);
  EXPECT_EQ(copied.field("etag"), made.field("etag"));
  const Answer got = ask("GET", target);
  EXPECT_TRUE(got.body == data);
  EXPECT_EQ(got.field("content-type"), "text/x");
  EXPECT_EQ(got.field("x-leat-meta-a"), "1");
  EXPECT_EQ(ask("POST", target + "?copy=photos/a/b%20c", "If-None-Match: *\r\n").status, 412);
  EXPECT_EQ(ask("POST", target + "?copy=photos/nothing").status, 404);
  EXPECT_EQ(ask("POST", target + "?copy=nothing/k").status, 404);
  EXPECT_EQ(ask("POST", target + "?copy=photos").status, 400);
}

TEST_F(NativeTest, APostThatIsNotKnownChangesNothing) {
  for (const std::string_view query : {"", "?", "?destroy", "?undelete&copy=photos/k"}) {
    EXPECT_EQ(ask("POST", object("k" + std::string(query))).status, 501) << query;
  }
}

// Listings and disks.

TEST_F(NativeTest, AListingIsPagedToItsEnd) {
  for (const std::string_view key : {"a", "train/0/x", "train/0/y", "train/1/x", "z%20%FF"})
    ASSERT_EQ(put(key, "12").status, 201);
  const json top = list("?delimiter=/");
  EXPECT_EQ(top["groups"], json::parse(R"(["train/"])"));
  EXPECT_EQ(top["objects"].size(), 2U);
  EXPECT_EQ(top["objects"][0]["key"], "a");
  EXPECT_EQ(top["objects"][0]["size"], 2);
  EXPECT_EQ(top["is_truncated"], false);
  EXPECT_EQ(list("?prefix=train/&delimiter=/")["groups"],
            json::parse(R"(["train/0/", "train/1/"])"));
  std::string keys;
  std::string after;
  for (int pages = 0; pages < 10; ++pages) {
    const json page = list("?max=2&encoding=url&after=" + after);
    for (const json& one : page["objects"])
      keys += one["key"].get<std::string>() + " ";
    if (!page["is_truncated"].get<bool>()) break;
    after = page["next_after"].get<std::string>();
  }
  EXPECT_EQ(keys, "a train/0/x train/0/y train/1/x z%20%FF ");
  EXPECT_EQ(list("?prefix=z")["objects"][0]["key"], "z \xEF\xBF\xBD") << "U+FFFD for the odd byte";
}

TEST_F(NativeTest, AListingRefusesWhatItDoesNotKnow) {
  for (const std::string_view query : {"?max=-1", "?max=10001", "?max=x", "?max=", "?colour=red",
                                       "?prefix=%zz", "?encoding=base64", "?max=1x"}) {
    EXPECT_EQ(ask("GET", "/_/v1/list/photos" + std::string(query)).status, 400) << query;
  }
  EXPECT_EQ(list("?max=0")["objects"].size(), 0U);
  EXPECT_EQ(ask("GET", "/_/v1/list/").status, 404);
}

TEST_F(NativeTest, DisksSayHowTheyAre) {
  json disks = json::parse(ask("GET", "/_/v1/disks").body)["disks"];
  ASSERT_EQ(disks.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(disks[i]["path"], "d" + std::to_string(i));
    EXPECT_EQ(disks[i]["state"], "ok");
    EXPECT_EQ(disks[i]["id"].get<std::string>().size(), 32U);
    EXPECT_GT(disks[i]["available_bytes"], 0);
  }
  rig_.disk(0).faults().add({.call = sim::DiskCall::sync, .nth = 1, .path_part = "segments"});
  EXPECT_EQ(ask("PUT", "/_/v1/buckets/unlucky").status, 503);
  disks = json::parse(ask("GET", "/_/v1/disks").body)["disks"];
  EXPECT_EQ(disks[0]["state"], "failed");
  EXPECT_NE(disks[0]["error"], "");
  EXPECT_EQ(disks[1]["state"], "ok");
}

TEST_F(NativeTest, WithoutRoomAPutIsRefusedAndReadsGoOn) {
  ASSERT_EQ(put("there", "x").status, 201);
  for (std::size_t i = 0; i < rig_.disk_count(); ++i) {
    const auto space = rig_.disk(i).space("d" + std::to_string(i));
    rig_.disk(i).set_capacity(space->total_bytes - space->available_bytes + 10);
  }
  for (int i = 0; i < 4; ++i) {
    const Answer answer = put("k" + std::to_string(i), pattern(i % 2 == 0 ? 10 : 300'000, 1));
    EXPECT_EQ(answer.status, 507);
    EXPECT_EQ(error_in(answer), "no_space");
  }
  EXPECT_EQ(get("there").body, "x");
  const json disks = json::parse(ask("GET", "/_/v1/disks").body)["disks"];
  EXPECT_TRUE(disks[0]["state"] == "full" || disks[1]["state"] == "full");
}

TEST_F(NativeTest, ADiskIsTakenOutAndBroughtInAgain) {
  ASSERT_EQ(put("k", "x").status, 201);
  const auto found = rig_.find({rig_.store().find_bucket("photos")->id, "k"});
  const std::string id = record::to_hex(found->disk);
  const std::string path = fmt::format("/d{}", rig_.number_of(found->disk));
  EXPECT_EQ(ask("DELETE", "/_/v1/disks/" + id + "?patience=1").status, 400);
  EXPECT_EQ(ask("DELETE", "/_/v1/disks/" + id + "?patience_ms=1000").status, 204);
  EXPECT_EQ(ask("DELETE", "/_/v1/disks/" + id).status, 404);
  EXPECT_EQ(get("k").status, 404);
  EXPECT_EQ(json::parse(ask("GET", "/_/v1/disks").body)["disks"].size(), 1U);
  EXPECT_EQ(ask("POST", "/_/v1/disks", "", R"({"path": "relative"})").status, 400);
  EXPECT_EQ(ask("POST", "/_/v1/disks", "", "{}").status, 400);
  EXPECT_EQ(ask("POST", "/_/v1/disks", "", json{{"path", path}}.dump()).status, 201);
  EXPECT_EQ(get("k").body, "x");
}

TEST_F(NativeTest, DamageIsAnErrorAndNeverWrongBytes) {
  ASSERT_EQ(put("small", std::string(1000, 's')).status, 201);
  const auto found = rig_.find({rig_.store().find_bucket("photos")->id, "small"});
  const std::size_t disk = rig_.number_of(found->disk);
  const std::string segment = fmt::format("d{}/segments/{:016x}.seg", disk, 1);
  ASSERT_TRUE(rig_.run(rig_.volume(disk).checkpoint()));
  const auto size = rig_.disk(disk).info(segment)->size_bytes;
  ASSERT_TRUE(rig_.disk(disk).flip_bit(segment, size - 500, 3));
  const Answer answer = get("small");
  EXPECT_EQ(answer.status, 500);
  EXPECT_EQ(error_in(answer), "corrupt");
  const json disks = json::parse(ask("GET", "/_/v1/disks").body)["disks"];
  EXPECT_EQ(disks[disk]["damaged"], json::parse(R"(["photos/small"])"));
  EXPECT_EQ(disks[1 - disk]["damaged"], json::array());
}

// Access keys.

TEST_F(NativeTest, KeysAreMadeListedWithoutSecretsAndRevoked) {
  const Answer made = ask("POST", "/_/v1/keys", "",
                          R"({"name": "alice", "expires_ms": 4102444800000, "rules": [
                              {"bucket": "photos", "prefix": "a/", "rights": ["read", "list"]}]})");
  ASSERT_EQ(made.status, 201) << made.body;
  EXPECT_EQ(made.field("cache-control"), "no-store");
  const json key = json::parse(made.body);
  const std::string id = key["id"];
  EXPECT_EQ(id.size(), 20U);
  EXPECT_EQ(std::string(key["secret"]).size(), 40U);
  const auto known = keys_.on(http_.world.shard()).table()->find(id);
  ASSERT_NE(known, nullptr);
  EXPECT_TRUE(keys::allows(*known, keys::Right::read, "photos", "a/x"));
  EXPECT_FALSE(keys::allows(*known, keys::Right::write, "photos", "a/x"));

  const Answer listed = ask("GET", "/_/v1/keys");
  EXPECT_EQ(json::parse(listed.body)["keys"].size(), 2U) << "the first one, and alice's";
  EXPECT_EQ(listed.body.find("secret"), std::string::npos);
  EXPECT_EQ(listed.body.find(std::string(key["secret"])), std::string::npos);

  EXPECT_EQ(ask("DELETE", "/_/v1/keys/" + id).status, 204);
  EXPECT_EQ(keys_.on(http_.world.shard()).table()->find(id), nullptr);
  EXPECT_EQ(ask("DELETE", "/_/v1/keys/" + id).status, 404);
}

TEST_F(NativeTest, AKeyThatMakesNoSenseIsRefused) {
  for (const std::string_view body :
       {"", "[]", "{}", R"({"name": "a", "rules": []})", R"({"rules": [{"bucket": "b"}]})",
        R"({"rules": [{"bucket": "b", "rights": []}]})",
        R"({"rules": [{"bucket": "", "rights": ["read"]}]})",
        R"({"rules": [{"bucket": "b", "rights": ["root"]}]})",
        R"({"rules": [{"bucket": "b", "rights": [1]}]})",
        R"({"name": 1, "rules": [{"bucket": "b", "rights": ["read"]}]})",
        R"({"expires_ms": 0, "rules": [{"bucket": "b", "rights": ["read"]}]})",
        R"({"more": 0, "rules": [{"bucket": "b", "rights": ["read"]}]})"}) {
    EXPECT_EQ(ask("POST", "/_/v1/keys", "", body).status, 400) << body;
  }
  for (const std::string_view who : {"anonymous", "same_machine"}) {
    const std::string fields = "x-auth: " + std::string(who) + "\r\n";
    EXPECT_EQ(ask("GET", "/_/v1/keys", fields).status, 401) << who;
    EXPECT_EQ(ask("POST", "/_/v1/keys", fields, "{}").status, 401) << who;
    EXPECT_EQ(ask("DELETE", "/_/v1/keys/x", fields).status, 401) << who;
  }
  EXPECT_EQ(ask("GET", "/_/v1/keys", "x-auth: access_key\r\n").status, 403);
}

}  // namespace
}  // namespace leat::native
