#include "xml/document.h"

#include <algorithm>
#include <pugixml.hpp>

#include "base/check.h"
#include "xml/gate.h"

namespace leat::xml {
namespace {

constexpr unsigned kParseFlags = pugi::parse_cdata | pugi::parse_escapes | pugi::parse_eol |
                                 pugi::parse_declaration | pugi::parse_ws_pcdata |
                                 pugi::parse_fragment;

std::unexpected<Error> malformed(std::string why) {
  return fail(Errc::bad_request, std::move(why));
}

bool is_blank(std::string_view text) {
  return text.find_first_not_of(" \t\r\n") == std::string_view::npos;
}

bool is_name(std::string_view name) {
  const auto is_letter = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '_';
  };
  const auto is_inner = [is_letter](char c) {
    return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.';
  };
  return !name.empty() && is_letter(name.front()) && std::ranges::all_of(name, is_inner);
}

bool names_utf8(const pugi::xml_node& declaration) {
  const pugi::xml_attribute encoding = declaration.attribute("encoding");
  if (encoding.empty()) return true;
  std::string name = encoding.value();
  for (char& c : name)
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c;
  return name == "utf-8";
}

// The one element of a document, with nothing but blanks, comments and a declaration around it.
Result<pugi::xml_node> root_of(const pugi::xml_document& parsed) {
  pugi::xml_node root;
  for (pugi::xml_node node = parsed.first_child(); node; node = node.next_sibling()) {
    if (node.type() == pugi::node_declaration) {
      if (!names_utf8(node)) return malformed("XML is not UTF-8");
    } else if (node.type() == pugi::node_element) {
      if (root) return malformed("XML with more than one root");
      root = node;
    } else if (!is_blank(node.value())) {
      return malformed("XML with text outside of its root");
    }
  }
  if (!root) return malformed("XML without a root");
  return root;
}

}  // namespace

// Copies what is needed of the parser's tree, which is an order of magnitude larger.
class Builder {
 public:
  Builder(std::size_t text_max, const Limits& limits) : limits_(limits) {
    document_.text_.reserve(text_max);
  }

  Result<Document> build(const pugi::xml_node& root) {
    LEAT_TRY(const std::uint32_t index, add(root, 1));
    LEAT_CHECK(index == 0);
    return std::move(document_);
  }

 private:
  // Adds `node` and what is below it; recursion is bounded by depth_max.
  Result<std::uint32_t> add(const pugi::xml_node& node, std::size_t depth) {
    if (depth > limits_.depth_max) return malformed("XML is nested too deeply");
    const std::string_view full_name = node.name();
    const std::size_t colon = full_name.find(':');
    const std::string_view name =
        colon == std::string_view::npos ? full_name : full_name.substr(colon + 1);
    if (!is_name(name)) return malformed("XML element with an odd name");
    const auto index = static_cast<std::uint32_t>(document_.nodes_.size());
    document_.nodes_.push_back({.name = keep(name), .text = {}});

    LEAT_DO(add_children(node, index, depth));
    const bool has_children = document_.nodes_[index].first_child != Node::kNone;
    const std::string_view text = keep_text(node);
    if (!has_children) {
      document_.nodes_[index].text = text;
    } else if (!is_blank(text)) {
      return malformed("XML element with both text and children");
    }
    return index;
  }

  Status add_children(const pugi::xml_node& node, std::uint32_t parent, std::size_t depth) {
    std::uint32_t last = Node::kNone;
    for (pugi::xml_node child = node.first_child(); child; child = child.next_sibling()) {
      if (child.type() != pugi::node_element) continue;
      LEAT_TRY(const std::uint32_t index, add(child, depth + 1));
      (last == Node::kNone ? document_.nodes_[parent].first_child : document_.nodes_[last].next) =
          index;
      last = index;
    }
    return {};
  }

  std::string_view keep_text(const pugi::xml_node& node) {
    const std::size_t begin = document_.text_.size();
    for (pugi::xml_node child = node.first_child(); child; child = child.next_sibling()) {
      if (child.type() == pugi::node_pcdata || child.type() == pugi::node_cdata) {
        keep(child.value());
      }
    }
    return {document_.text_.data() + begin, document_.text_.size() - begin};
  }

  std::string_view keep(std::string_view text) {
    std::vector<char>& kept = document_.text_;
    LEAT_CHECK(kept.capacity() - kept.size() >= text.size());
    kept.insert(kept.end(), text.begin(), text.end());
    return {kept.data() + kept.size() - text.size(), text.size()};
  }

  const Limits& limits_;
  Document document_;
};

Result<std::optional<Element>> Element::find_one(std::string_view wanted) const {
  std::optional<Element> found;
  const Children all = children();
  for (const Element child : all) {
    if (child.name() != wanted) continue;
    if (found) return malformed("XML with several <" + std::string(wanted) + ">");
    found = child;
  }
  return found;
}

Result<Element> Element::need_one(std::string_view wanted) const {
  LEAT_TRY(const std::optional<Element> found, find_one(wanted));
  if (!found) return malformed("XML without <" + std::string(wanted) + ">");
  return *found;
}

Result<Document> Document::parse(Bytes body, const Limits& limits) {
  if (body.size() > limits.size_max_bytes) return fail(Errc::too_large, "XML is too large");
  constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
  std::string_view text = as_text(body);
  if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  LEAT_DO(check_gate(text, limits.elements_max));

  pugi::xml_document parsed;
  const pugi::xml_parse_result outcome =
      parsed.load_buffer(text.data(), text.size(), kParseFlags, pugi::encoding_utf8);
  if (!outcome) {
    return malformed("XML at byte " + std::to_string(outcome.offset) + ": " +
                     outcome.description());
  }
  LEAT_TRY(const pugi::xml_node root, root_of(parsed));
  return Builder(text.size(), limits).build(root);
}

}  // namespace leat::xml
