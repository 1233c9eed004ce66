#include "http1/request_head.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <string_view>
#include <vector>

namespace leat::http1 {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kGet =
    "GET /bkt/a%20b?list-type=2&x HTTP/1.1\r\nHost: leat:9000\r\nRange:bytes=0-4 \r\n"
    "X-Empty:\r\nConnection: keep-alive\r\n\r\n";

// What went wrong with one request, or nothing.
std::optional<Errc> error_of(std::string_view text) {
  RequestParser parser;
  RequestHead head;
  const auto size = parser.parse(text, head);
  if (size) return std::nullopt;
  EXPECT_FALSE(size.error().detail().empty()) << text;
  return size.error().code();
}

// A request with one more line: the shape of most cases below.
std::string with_line(std::string_view line) {
  return "PUT / HTTP/1.1\r\nHost: a\r\n" + std::string(line) + "\r\n\r\n";
}

struct Case {
  std::string_view why;
  std::string text;
};

void expect_refused(const std::vector<Case>& cases) {
  for (const Case& c : cases)
    EXPECT_EQ(error_of(c.text), Errc::bad_request) << c.why;
}

RequestHead accept(std::string_view text) {
  RequestParser parser;
  RequestHead head;
  const auto size = parser.parse(text, head);
  EXPECT_TRUE(size.has_value()) << text << "\n" << size.error().message();
  EXPECT_GT(size.value_or(0), 0u) << text;
  return head;
}

TEST(RequestParser, TakesAnOrdinaryRequestApart) {
  const RequestHead head = accept(kGet);
  EXPECT_EQ(head.method, Method::get);
  EXPECT_EQ(head.method_text, "GET");
  EXPECT_EQ(head.target, "/bkt/a%20b?list-type=2&x");
  EXPECT_EQ(head.path, "/bkt/a%20b");
  EXPECT_EQ(head.query, "list-type=2&x");
  EXPECT_EQ(head.version, Version::http11);
  EXPECT_EQ(head.host, "leat:9000");
  EXPECT_FALSE(head.content_length.has_value());
  EXPECT_FALSE(head.chunked);
  EXPECT_TRUE(head.keep_alive);
  EXPECT_FALSE(head.expects_continue);
  ASSERT_EQ(head.headers.size(), 4u);
  EXPECT_EQ(head.headers[1].name, "Range");
  EXPECT_EQ(head.headers[1].value, "bytes=0-4");
  EXPECT_EQ(head.headers.find("x-empty"), "");
  EXPECT_EQ(head.headers.find("absent"), std::nullopt);
}

TEST(RequestParser, ByteByByteGivesTheSameAsAtOnceEvenIfTheBufferMoves) {
  RequestParser parser;
  RequestHead head;
  std::string buffer;
  for (std::size_t have = 0; have < kGet.size(); ++have) {
    std::string moved(kGet.substr(0, have));
    buffer.swap(moved);
    ASSERT_EQ(parser.parse(buffer, head).value(), 0u) << have;
    ASSERT_EQ(parser.started(), have > 0);
  }
  ASSERT_EQ(parser.parse(kGet, head).value(), kGet.size());
  EXPECT_EQ(head.path, "/bkt/a%20b");
  EXPECT_EQ(head.headers.size(), 4u);
  EXPECT_EQ(head.headers.find(Header::range), "bytes=0-4");
  EXPECT_FALSE(parser.started());
}

TEST(RequestParser, SaysWhereTheNextPipelinedRequestStarts) {
  const std::string two = std::string(kGet) + "HEAD /2 HTTP/1.1\r\nHost: b\r\n\r\n";
  RequestParser parser;
  RequestHead head;
  ASSERT_EQ(parser.parse(two, head).value(), kGet.size());
  ASSERT_GT(parser.parse(std::string_view(two).substr(kGet.size()), head).value(), 0u);
  EXPECT_EQ(head.method, Method::head);
  EXPECT_EQ(head.path, "/2");
  EXPECT_EQ(head.headers.size(), 1u);
  EXPECT_EQ(head.headers.find(Header::range), std::nullopt);
}

TEST(RequestParser, KnowsItsMethodsAndLeavesTheRestToTheServer) {
  EXPECT_EQ(accept("DELETE /x HTTP/1.1\r\nHost: a\r\n\r\n").method, Method::delete_);
  const RequestHead other = accept("PROPFIND /x HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(other.method, Method::other);
  EXPECT_EQ(other.method_text, "PROPFIND");
  EXPECT_EQ(accept("get /x HTTP/1.1\r\nHost: a\r\n\r\n").method, Method::other);
}

TEST(RequestParser, Abuse28RefusesAmbiguousBodyLengths) {
  expect_refused({
      {"CL then TE", with_line("Content-Length: 5\r\nTransfer-Encoding: chunked")},
      {"TE then CL", with_line("Transfer-Encoding: chunked\r\nContent-Length: 5")},
      {"two CL", with_line("Content-Length: 5\r\nContent-Length: 6")},
      {"two equal CL", with_line("Content-Length: 5\r\ncontent-length: 5")},
      {"list CL", with_line("Content-Length: 5,5")},
      {"plus", with_line("Content-Length: +5")},
      {"minus", with_line("Content-Length: -5")},
      {"hex", with_line("Content-Length: 0x5")},
      {"inner space", with_line("Content-Length: 5 5")},
      {"fraction", with_line("Content-Length: 5.0")},
      {"empty", with_line("Content-Length:")},
      {"only space", with_line("Content-Length:   ")},
      {"2^64", with_line("Content-Length: 18446744073709551616")},
      {"many digits", with_line("Content-Length: 99999999999999999999999")},
  });
  EXPECT_EQ(accept(with_line("Content-Length: 18446744073709551615")).content_length,
            18446744073709551615u);
  EXPECT_EQ(accept(with_line("Content-Length: 0")).content_length, 0u);
}

TEST(RequestParser, Abuse28RefusesEveryTransferEncodingButOneChunked) {
  expect_refused({
      {"xchunked", with_line("Transfer-Encoding: xchunked")},
      {"chunkedx", with_line("Transfer-Encoding: chunkedx")},
      {"identity", with_line("Transfer-Encoding: identity")},
      {"gzip, chunked", with_line("Transfer-Encoding: gzip, chunked")},
      {"chunked, chunked", with_line("Transfer-Encoding: chunked, chunked")},
      {"chunked,", with_line("Transfer-Encoding: chunked,")},
      {"parameter", with_line("Transfer-Encoding: chunked;a=b")},
      {"quoted", with_line("Transfer-Encoding: \"chunked\"")},
      {"empty", with_line("Transfer-Encoding:")},
      {"twice", with_line("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked")},
      {"vertical tab", with_line("Transfer-Encoding: \vchunked")},
      {"HTTP/1.0", "PUT / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n"},
  });
  EXPECT_TRUE(accept(with_line("Transfer-Encoding: Chunked")).chunked);
  EXPECT_TRUE(accept(with_line("transfer-encoding:\tchunked ")).chunked);
}

TEST(RequestParser, Abuse28RefusesBareLineEndsAndControlBytes) {
  expect_refused({
      {"bare LF after request line", "GET / HTTP/1.1\nHost: a\r\n\r\n"},
      {"bare LF in a value", with_line("X: a\nTransfer-Encoding: chunked")},
      {"bare LF only", "GET / HTTP/1.1\nHost: a\n\n"},
      {"bare CR in a value", with_line("X: a\rb")},
      {"CR CR LF", with_line("X: a\r")},
      {"bare CR in a name", with_line("X\r: a")},
      {"NUL in a value", with_line("X: a\0b"sv)},
      {"NUL in a name", with_line("X\0: b"sv)},
      {"NUL in the target", std::string("GET /\0 HTTP/1.1\r\nHost: a\r\n\r\n"sv)},
      {"escape in a value", with_line("X: \x1b[31m")},
      {"DEL in a value", with_line("X: \x7f")},
      {"HTAB in the request line", "GET\t/ HTTP/1.1\r\nHost: a\r\n\r\n"},
  });
  EXPECT_EQ(accept(with_line("X:\ta\tb\t")).headers.find("x"), "a\tb");
}

TEST(RequestParser, Abuse28RefusesEveryControlByteInAValue) {
  for (int c = 0; c < 256; ++c) {
    const std::string text = with_line("X: a" + std::string(1, static_cast<char>(c)) + "b");
    const bool control = (c < 0x20 && c != '\t') || c == 0x7f;
    EXPECT_EQ(error_of(text).has_value(), control) << c;
  }
}

TEST(RequestParser, Abuse28RefusesFoldedAndMisshapenHeaderLines) {
  expect_refused({
      {"obs-fold", with_line("X: a\r\n b")},
      {"obs-fold with tab", with_line("X: a\r\n\tb")},
      {"white space before the first field", "GET / HTTP/1.1\r\n Host: a\r\n\r\n"},
      {"space before colon", with_line("Content-Length : 5")},
      {"tab before colon", with_line("Content-Length\t: 5")},
      {"space in a name", with_line("Content Length: 5")},
      {"empty name", with_line(": a")},
      {"no colon", with_line("abc")},
      {"parenthesis in a name", with_line("a(b): c")},
      {"eight-bit byte in a name", with_line("\xc3\xa4: c")},
  });
  EXPECT_EQ(accept(with_line("x-amz-meta-n: \xc3\xa4")).headers.find("X-Amz-Meta-N"), "\xc3\xa4");
}

TEST(RequestParser, Abuse28AcceptsExactlyTheTokenCharactersInNames) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  for (int i = 1; i < 256; ++i) {
    const char c = static_cast<char>(i);
    if (c == ':') continue;
    const bool alnum = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    const std::string text = with_line("x" + std::string(1, c) + "y: v");
    EXPECT_EQ(error_of(text).has_value(), !(alnum || kMarks.contains(c))) << i;
  }
}

TEST(RequestParser, RefusesMisshapenRequestLines) {
  expect_refused({
      {"two spaces", "GET  / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"space in the target", "GET /a b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"space at the end", "GET / HTTP/1.1 \r\nHost: a\r\n\r\n"},
      {"space at the start", " GET / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no target", "GET HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"empty target", "GET  HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no version", "GET /\r\nHost: a\r\n\r\n"},
      {"method only", "GET\r\nHost: a\r\n\r\n"},
      {"method not a token", "G{T / HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"eight-bit target", "GET /\xc3\xa4 HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"fragment", "GET /a#b HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"relative target", "GET a HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"star without OPTIONS", "GET * HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"authority form", "CONNECT a:443 HTTP/1.1\r\nHost: a:443\r\n\r\n"},
      {"other scheme", "GET ftp://a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"garbage version", "GET / HTTP/1.10\r\nHost: a\r\n\r\n"},
      {"lower-case version", "GET / http/1.1\r\nHost: a\r\n\r\n"},
      {"other protocol", "GET / HTTQ/1.1\r\nHost: a\r\n\r\n"},
      {"TLS hello", "\x16\x03\x01"},
      {"two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n"},
  });
}

TEST(RequestParser, NamesVersionsItDoesNotSpeak) {
  for (const std::string_view version : {"HTTP/0.9", "HTTP/1.2", "HTTP/2.0", "HTTP/3.0"}) {
    EXPECT_EQ(error_of("GET / " + std::string(version) + "\r\nHost: a\r\n\r\n"),
              Errc::version_not_supported);
  }
}

TEST(RequestParser, ToleratesOneEmptyLineBeforeARequest) {
  constexpr std::string_view kText = "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestParser parser;
  RequestHead head;
  EXPECT_EQ(parser.parse(kText, head).value(), kText.size());
  EXPECT_EQ(head.path, "/x");
  EXPECT_EQ(head.method_text, "GET");
}

TEST(RequestParser, ToleratesAnEmptyLineBeforeEachRequestOfAConnection) {
  constexpr std::string_view kText = "\r\nGET /x HTTP/1.1\r\nHost: a\r\n\r\n";
  RequestParser parser;
  RequestHead head;
  EXPECT_EQ(parser.parse(kText, head).value(), kText.size());
  EXPECT_EQ(parser.parse(kText, head).value(), kText.size());
}

TEST(RequestParser, UnderstandsTheThreeFormsOfATarget) {
  const RequestHead star = accept("OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(star.path, "*");
  const RequestHead absolute = accept("GET http://A:80/x?y=1 HTTP/1.1\r\nHost: a:80\r\n\r\n");
  EXPECT_EQ(absolute.path, "/x");
  EXPECT_EQ(absolute.query, "y=1");
  EXPECT_EQ(absolute.host, "a:80");
  const RequestHead bare = accept("GET HTTPS://a?y HTTP/1.0\r\n\r\n");
  EXPECT_EQ(bare.path, "/");
  EXPECT_EQ(bare.query, "y");
  EXPECT_EQ(bare.host, "a");
  const RequestHead marks = accept("GET //a/../b?c?d HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_EQ(marks.path, "//a/../b");
  EXPECT_EQ(marks.query, "c?d");
}

TEST(RequestParser, Abuse28RefusesMissingDoubleOrInvalidHosts) {
  const auto with_host = [](std::string_view host) {
    return "GET / HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n";
  };
  expect_refused({
      {"missing", "GET / HTTP/1.1\r\n\r\n"},
      {"twice", "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n"},
      {"twice in HTTP/1.0", "GET / HTTP/1.0\r\nHost: a\r\nHost: a\r\n\r\n"},
      {"empty", with_host("")},
      {"user", with_host("u@a")},
      {"space", with_host("a b")},
      {"slash", with_host("a/b")},
      {"list", with_host("a, b")},
      {"port", with_host("a:http")},
      {"large port", with_host("a:65536")},
      {"empty port", with_host("a:")},
      {"port only", with_host(":80")},
      {"open bracket", with_host("[::1")},
      {"empty bracket", with_host("[]")},
      {"after bracket", with_host("[::1]x")},
      {"eight-bit", with_host("\xc3\xa4")},
      {"differs from the target", "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"user in the target", "GET http://u@a/ HTTP/1.1\r\nHost: a\r\n\r\n"},
      {"no host in the target", "GET http:///x HTTP/1.1\r\nHost: a\r\n\r\n"},
  });
  for (const std::string_view good :
       {"a", "a:80", "bkt.s3.leat_1.local:9000", "127.0.0.1", "[::1]", "[fe80::1]:443"}) {
    EXPECT_EQ(accept(with_host(good)).host, good);
  }
  EXPECT_EQ(accept("GET / HTTP/1.0\r\n\r\n").host, "");
}

TEST(RequestParser, KeepsTheConnectionAsVersionAndConnectionSay) {
  const auto keep = [](std::string_view version, std::string_view fields) {
    const std::string text =
        "GET / HTTP/" + std::string(version) + "\r\nHost: a\r\n" + std::string(fields) + "\r\n";
    return accept(text).keep_alive;
  };
  EXPECT_TRUE(keep("1.1", ""));
  EXPECT_FALSE(keep("1.0", ""));
  EXPECT_FALSE(keep("1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keep("1.1", "Connection: TE, Close\r\n"));
  EXPECT_FALSE(keep("1.1", "Connection: keep-alive\r\nX: y\r\nConnection: close\r\n"));
  EXPECT_TRUE(keep("1.0", "Connection: Keep-Alive\r\n"));
  EXPECT_FALSE(keep("1.0", "Connection: keep-alive, close\r\n"));
  EXPECT_TRUE(keep("1.1", "Connection: closed, ,\r\n"));
}

TEST(RequestParser, Abuse31SeesExpectContinueInAnyCase) {
  EXPECT_TRUE(accept(with_line("Expect: 100-continue")).expects_continue);
  EXPECT_TRUE(accept(with_line("Expect: 100-Continue")).expects_continue);
  EXPECT_FALSE(accept(with_line("Expect: 200-ok")).expects_continue);
  EXPECT_FALSE(accept("PUT / HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n")
                   .expects_continue);
}

TEST(RequestParser, Abuse30AHundredKilobyteFieldIsHeadTooLarge) {
  EXPECT_EQ(error_of(with_line("X: " + std::string(100 * 1024, 'a'))), Errc::head_too_large);
  EXPECT_EQ(error_of("GET / HTTP/1.1\r\nX: " + std::string(32 * 1024, 'a')), Errc::head_too_large);
}

TEST(RequestParser, Abuse30TenThousandFieldsAreHeadTooLarge) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 10000; ++i)
    text += "a:\r\n";
  EXPECT_EQ(error_of(text), Errc::head_too_large);
}

TEST(RequestParser, Abuse30AHundredFieldsAreEnoughAndOneMoreIsTooMany) {
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\n";
  for (int i = 0; i < 99; ++i)
    text += "a:\r\n";
  EXPECT_EQ(accept(text + "\r\n").headers.size(), 100u);
  EXPECT_EQ(error_of(text + "a:\r\n\r\n"), Errc::head_too_large);
}

TEST(RequestParser, Abuse30AMegabyteOfTargetIsUriTooLong) {
  EXPECT_EQ(error_of("GET /" + std::string(1024 * 1024, 'a')), Errc::uri_too_long);
  const auto with_target = [](std::size_t size) {
    return "GET /" + std::string(size - 1, 'a') + " HTTP/1.1\r\nHost: a\r\n\r\n";
  };
  EXPECT_EQ(error_of(with_target(16 * 1024 + 1)), Errc::uri_too_long);
  EXPECT_EQ(error_of(with_target(16 * 1024)), std::nullopt);
}

TEST(RequestParser, Abuse30TheLimitCountsTheWholeHeadToTheByte) {
  const std::string text = with_line("X: abc");
  RequestHead head;
  RequestParser enough({.head_max_bytes = text.size(), .target_max_bytes = 16, .fields_max = 4});
  EXPECT_EQ(enough.parse(text + "body", head).value(), text.size());
  RequestParser short_by_one(
      {.head_max_bytes = text.size() - 1, .target_max_bytes = 16, .fields_max = 4});
  EXPECT_EQ(short_by_one.parse(text, head).error().code(), Errc::head_too_large);
}

TEST(RequestParser, Abuse30AFullBufferWithoutAnEndIsAnErrorNotAWait) {
  const std::string text = with_line("X: abc");
  const std::string_view cut = std::string_view(text).substr(0, text.size() - 1);
  const Limits limits{.head_max_bytes = cut.size(), .target_max_bytes = 16, .fields_max = 4};
  RequestHead head;
  RequestParser almost(limits);
  EXPECT_EQ(almost.parse(cut.substr(0, cut.size() - 1), head).value(), 0u);
  EXPECT_EQ(almost.parse(cut, head).error().code(), Errc::head_too_large);
}

TEST(RequestParser, Abuse29ASlowHeadIsScannedOnceNotOncePerByte) {
  // 30 KiB one byte at a time: quadratic scanning would look at 450 million bytes here.
  std::string text = "GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(30 * 1024, 'a');
  RequestParser parser;
  RequestHead head;
  for (std::size_t have = 1; have <= text.size(); ++have) {
    ASSERT_EQ(parser.parse(std::string_view(text).substr(0, have), head).value(), 0u);
  }
  text += "\r\n\r\n";
  EXPECT_EQ(parser.parse(text, head).value(), text.size());
}

TEST(RequestParser, EveryRefusalIsTheSameInPiecesAndAtOnce) {
  for (const std::string& text :
       {with_line("Content-Length: 5\r\nTransfer-Encoding: chunked"), with_line("X: a\nb"),
        with_line("a b: c"), std::string("GET / HTTP/2.0\r\nHost: a\r\n\r\n"),
        std::string("GET / HTTP/1.1\r\n\r\n")}) {
    RequestParser parser;
    RequestHead head;
    std::optional<Errc> error;
    for (std::size_t have = 1; have <= text.size() && !error; ++have) {
      const auto size = parser.parse(std::string_view(text).substr(0, have), head);
      if (!size) error = size.error().code();
    }
    EXPECT_EQ(error, error_of(text)) << text;
  }
}

}  // namespace
}  // namespace leat::http1
