#include "xml/document.h"

#include <gtest/gtest.h>

#include <string>

namespace leat::xml {
namespace {

Result<Document> parse(std::string_view text, const Limits& limits = {}) {
  return Document::parse(as_bytes(text), limits);
}

// "name(child(text) child)", or the name of the error.
std::string show(const Element& element) {
  std::string inner(element.text());
  const auto children = element.children();
  for (const Element child : children) {
    if (!inner.empty()) inner.push_back(' ');
    inner.append(show(child));
  }
  return std::string(element.name()) + "(" + inner + ")";
}
std::string shown(std::string_view text) {
  const auto document = parse(text);
  return document ? show(document->root()) : std::string(traits(document.error().code()).name);
}

TEST(XmlDocument, ReadsWhatS3ClientsSend) {
  EXPECT_EQ(shown("<?xml version='1.0' encoding='UTF-8'?>\n"
                  "<Delete xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">\n"
                  "  <Object><Key>a &amp; b</Key></Object><Quiet>true</Quiet>\n</Delete>\n"),
            "Delete(Object(Key(a & b)) Quiet(true))");
  EXPECT_EQ(shown("<C><Part><ETag>&quot;5d&#34;</ETag><PartNumber>2</PartNumber></Part></C>"),
            "C(Part(ETag(\"5d\") PartNumber(2)))");
}

TEST(XmlDocument, KeepsBlanksAndControlCharactersOfKeys) {
  EXPECT_EQ(shown("<Key> </Key>"), "Key( )");
  EXPECT_EQ(shown("<Key> a  b </Key>"), "Key( a  b )");
  EXPECT_EQ(shown("<Key>&#x1;&#13;&#x1F600;</Key>"), "Key(\x01\r\xF0\x9F\x98\x80)");
  EXPECT_EQ(shown("<Key>a\r\nb</Key>"), "Key(a\nb)");
  EXPECT_EQ(shown("<Key></Key>"), "Key()");
}

TEST(XmlDocument, Abuse42NamespacesCommentsAndCdataAreOrdinary) {
  EXPECT_EQ(shown("<s3:Delete xmlns:s3='x'><s3:Key a='1'>k</s3:Key></s3:Delete>"),
            "Delete(Key(k))");
  EXPECT_EQ(shown("<!-- a & < b --><Key>a<!-- no -->b</Key><!-- -->"), "Key(ab)");
  EXPECT_EQ(shown("<Key>a<![CDATA[<&amp;]]>b</Key>"), "Key(a<&amp;b)");
  EXPECT_EQ(shown("\xEF\xBB\xBF<?xml version=\"1.0\" encoding=\"utf-8\"?><a/>"), "a()");
}

TEST(XmlDocument, Abuse41DocumentTypesAndEntitiesAreRefused) {
  const std::string_view documents[] = {
      "<!DOCTYPE a><a/>",
      "<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>",
      "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>",
      "<a><!ENTITY b 'c'></a>",
      "<a>&b;</a>",
      "<a>&</a>",
      "<a>&amp</a>",
      "<a b='&c;'/>",
      "<a>&#0;</a>",
      "<a>&#x0;</a>",
      "<a>&#xD800;</a>",
      "<a>&#x110000;</a>",
      "<a>&#4294967361;</a>",
      "<a>&#xFFFE;</a>",
      "<a>&#;</a>",
      "<a>&#x;</a>",
      "<a>&#-1;</a>",
      "<a><?php ?></a>",
      "<?xml-stylesheet href='a'?><a/>",
      " <?xml version='1.0'?><a/>",
      "<a/><?xml version='1.0'?>",
  };
  for (const std::string_view document : documents)
    EXPECT_EQ(shown(document), "bad_request") << document;
}

TEST(XmlDocument, Abuse42OtherEncodingsAndRawControlCharactersAreRefused) {
  EXPECT_EQ(shown(std::string_view("\xFF\xFE<\0a\0/\0>\0", 10)), "bad_request");
  EXPECT_EQ(shown(std::string_view("<\0a\0/\0>\0", 8)), "bad_request");
  EXPECT_EQ(shown("<?xml version='1.0' encoding='ISO-8859-1'?><a/>"), "bad_request");
  EXPECT_EQ(shown("<?xml version='1.0' encoding='UTF-16'?><a/>"), "bad_request");
  EXPECT_EQ(shown("<a>\xC0\x80</a>"), "bad_request");
  EXPECT_EQ(shown("<a>\xE9</a>"), "bad_request");
  EXPECT_EQ(shown("<a>\x01</a>"), "bad_request");
  EXPECT_EQ(shown(std::string_view("<a>\0</a>", 8)), "bad_request");
}

TEST(XmlDocument, MalformedDocumentsAreRefused) {
  const std::string_view documents[] = {
      "",
      " ",
      "text",
      "<a>",
      "<a></b>",
      "</a>",
      "<a/><b/>",
      "<a/>text",
      "text<a/>",
      "<a b=c/>",
      "<a b='c/>",
      "<a",
      "<>x</>",
      "<a><b></a></b>",
      "<!-- -->",
      "<a><!-- </a>",
      "<a><![CDATA[ </a>",
      "<a>t<b/></a>",
      "<a><b/>t</a>",
      "<a!/>",
      "<1a/>",
      "<a:/>",
  };
  for (const std::string_view document : documents)
    EXPECT_EQ(shown(document), "bad_request") << document;
}

std::string nested(std::size_t depth) {
  std::string text;
  for (std::size_t i = 0; i < depth; ++i)
    text.append("<a>");
  for (std::size_t i = 0; i < depth; ++i)
    text.append("</a>");
  return text;
}

TEST(XmlDocument, Abuse41DepthIsBounded) {
  EXPECT_TRUE(parse(nested(32)));
  EXPECT_FALSE(parse(nested(33)));
  EXPECT_FALSE(parse(nested(100'000), {.size_max_bytes = 10 * kMiB}));
}

TEST(XmlDocument, Abuse41SizeAndNumberOfElementsAreBounded) {
  const std::string text = "<a><b/><b/></a>";
  EXPECT_TRUE(parse(text, {.size_max_bytes = text.size(), .elements_max = 3}));
  const auto long_one = parse(text, {.size_max_bytes = text.size() - 1});
  EXPECT_EQ(long_one.error().code(), Errc::too_large);
  const auto wide_one = parse(text, {.elements_max = 2});
  EXPECT_EQ(wide_one.error().code(), Errc::too_large);
}

TEST(XmlDocument, ElementsAreFoundByNameAndNeverTwice) {
  const auto document = parse("<a><b>1</b><c>2</c><c>3</c></a>");
  ASSERT_TRUE(document);
  const Element root = document->root();
  EXPECT_EQ(root.need_one("b")->text(), "1");
  EXPECT_EQ(root.find_one("x")->has_value(), false);
  EXPECT_FALSE(root.need_one("x"));
  EXPECT_FALSE(root.find_one("c"));
  EXPECT_FALSE(root.need_one("c"));
}

TEST(XmlDocument, ViewsSurviveAMove) {
  auto parsed = parse("<a><b>t</b></a>");
  ASSERT_TRUE(parsed);
  const Element root = parsed->root();
  const Document moved = *std::move(parsed);
  EXPECT_EQ(show(root), "a(b(t))");
  EXPECT_EQ(show(moved.root()), "a(b(t))");
}

}  // namespace
}  // namespace leat::xml
