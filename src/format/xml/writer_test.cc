#include "xml/writer.h"

#include <gtest/gtest.h>

#include "xml/document.h"

namespace leat::xml {
namespace {

std::string escaped(std::string_view text) {
  std::string out;
  append_escaped(out, text);
  return out;
}

TEST(XmlWriter, WritesATree) {
  std::string out;
  Writer xml(out);
  xml.open("List", "http://s3.amazonaws.com/doc/2006-03-01/");
  xml.element("Name", "a&b");
  xml.element("MaxKeys", std::uint64_t{1000});
  xml.element("IsTruncated", false);
  const Attribute attributes[] = {{.name = "xsi:type", .value = "\"User\""}};
  xml.open("Grantee", attributes);
  xml.close();
  xml.close();
  EXPECT_EQ(out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<List xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>a&amp;b</Name>"
            "<MaxKeys>1000</MaxKeys><IsTruncated>false</IsTruncated>"
            "<Grantee xsi:type=\"&quot;User&quot;\"></Grantee></List>");
}

TEST(XmlWriter, Abuse43KeysWithMarkupAndControlCharactersAreEscaped) {
  EXPECT_EQ(escaped("<a href='x'>&\"\x01"), "&lt;a href=&apos;x&apos;&gt;&amp;&quot;&#x1;");
  EXPECT_EQ(escaped("a\tb\nc\rd\x7f"), "a&#x9;b&#xa;c&#xd;d&#x7f;");
  EXPECT_EQ(escaped(std::string_view("\0", 1)), "&#x0;");
  EXPECT_EQ(escaped("]]>"), "]]&gt;");
  EXPECT_EQ(escaped("\xEF\xBF\xBF"), "&#xffff;");
  EXPECT_EQ(escaped("\xC3\xA9 \xF0\x9F\x98\x80"), "\xC3\xA9 \xF0\x9F\x98\x80");
}

TEST(XmlWriter, BytesThatAreNoTextBecomeTheReplacementCharacter) {
  for (const std::string_view bytes :
       {"\x80", "\xC3", "\xFF", "\xC0\x80", "\xED\xA0\x80", "\xF5\x80\x80\x80", "\xE2\x82"}) {
    const std::string text = escaped(std::string("<") + std::string(bytes) + ">");
    EXPECT_TRUE(text.starts_with("&lt;\xEF\xBF\xBD")) << text;
    EXPECT_TRUE(text.ends_with("&gt;")) << text;
  }
}

TEST(XmlWriter, WhatItWritesReadsBackTheSame) {
  std::string key;
  for (char c = 1; c < 0x7f; ++c)
    key.push_back(c);
  key.append("\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80 ");
  std::string out;
  Writer xml(out);
  xml.element("Key", key);
  const auto document = Document::parse(as_bytes(out));
  ASSERT_TRUE(document) << document.error().message();
  EXPECT_EQ(document->root().text(), key);
}

}  // namespace
}  // namespace leat::xml
