#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "share/site_test.h"
#include "support/temp_folder.h"

namespace leat::share {
namespace {

using testing::Answer;
using testing::TempFolder;

// A folder of the machine, served from below its root: "shared", with a secret beside it.
class RealFolderTest : public ::testing::Test {
 protected:
  RealFolderTest() {
    folder.write("secret", "secret");
    folder.write("shared/small", "small");
    folder.write("shared/d/large", large);
    disk.emplace(io::PosixDisk::below(folder.path("shared")).value());
    site.emplace(/*writable=*/true, &*disk);
  }

  const std::string large = std::string(500000, 'l');
  TempFolder folder;
  std::optional<io::PosixDisk> disk;
  std::optional<Site> site;
};

TEST_F(RealFolderTest, ReadsWritesAndDeletes) {
  EXPECT_EQ(site->get("/small").body, "small");
  EXPECT_EQ(site->get("/d/large").body, large);
  EXPECT_EQ(site->get("/d/large", "Range: bytes=499990-\r\n").body, std::string(10, 'l'));
  EXPECT_EQ(site->put("/a/b/new", large).status, 201);
  EXPECT_EQ(folder.read("shared/a/b/new"), large);
  EXPECT_EQ(site->put("/small", "other").status, 200);
  EXPECT_EQ(site->get("/small").body, "other");
  EXPECT_EQ(site->ask("DELETE", "/a/b/new").status, 204);
  EXPECT_FALSE(folder.exists("shared/a/b/new"));
}

TEST_F(RealFolderTest, LinksInsideTheRootAreFollowedAndThoseThatLeaveItAreNotThere) {
  folder.make_link("shared/inside", "d/large");
  folder.make_link("shared/out", "../secret");
  folder.make_link("shared/absolute", folder.path("secret"));
  folder.make_link("shared/up", "..");
  folder.make_link("shared/loop", "loop");
  folder.make_link("shared/magic", "/proc/self/root");
  EXPECT_EQ(site->get("/inside").body, large);
  for (const std::string_view target :
       {"/out", "/absolute", "/up/secret", "/loop", "/magic/etc/passwd", "/up"}) {
    EXPECT_EQ(site->get(target).status, 404) << target;
    EXPECT_EQ(site->ask("DELETE", target).status, 404) << target;
  }
  EXPECT_EQ(site->put("/up/new", "x").status, 404);
  EXPECT_EQ(site->put("/up/deep/new", "x").status, 404);
  EXPECT_FALSE(folder.exists("new"));
  EXPECT_FALSE(folder.exists("deep"));
  // A name is replaced, never what it points to.
  EXPECT_LT(site->put("/out", "x").status, 300);
  EXPECT_EQ(folder.read("secret"), "secret");
  EXPECT_EQ(site->get("/out").body, "x");
}

TEST_F(RealFolderTest, FoldersAndPipesAreNotFiles) {
  folder.make_pipe("shared/pipe");
  EXPECT_EQ(site->get("/pipe").status, 404);
  EXPECT_EQ(site->get("/d").status, 404);
  EXPECT_EQ(site->ask("DELETE", "/d").status, 404);
  EXPECT_EQ(site->put("/d", "x").status, 409);
  EXPECT_EQ(site->put("/small/x", "x").status, 409);
  EXPECT_EQ(site->put("/small/x/y", "x").status, 409);
  EXPECT_EQ(folder.read("shared/small"), "small");
}

TEST_F(RealFolderTest, ANameThatIsTooLongIsRefused) {
  const std::string name = "/" + std::string(300, 'n');
  EXPECT_EQ(site->get(name).status, 400);
  EXPECT_EQ(site->put(name, "x").status, 400);
  EXPECT_EQ(TempFolder::names_in(folder.path("shared")), (std::vector<std::string>{"d", "small"}));
}

TEST_F(RealFolderTest, AFileCutShortWhileItIsSentBreaksTheAnswer) {
  testing::RawClient client(*site->http, /*reads=*/false);
  client.send("GET /d/large HTTP/1.1\r\nHost: server\r\n\r\n");
  site->http->world.run_for(std::chrono::seconds(1));
  folder.write("shared/d/large", "short");
  client.start_reading();
  ASSERT_TRUE(client.wait_end());
  EXPECT_EQ(client.answers().whole.size(), 0U);
}

}  // namespace
}  // namespace leat::share
