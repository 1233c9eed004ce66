// The small XML documents that S3 clients send: parsed whole, strictly, into a tree of elements.
//
// Names come without their namespace prefix, and attributes are dropped: no S3 request means
// anything by them. An element has children or text, never both. Document types, entities and
// processing instructions are refused (gate.h), and size, depth and number of elements are bounded
// before they cost memory.
//
//   LEAT_TRY(const auto document, Document::parse(body));
//   for (Element part : document.root().children()) …
//
// Lifetime: elements and their text are views into the document, and stay valid when it is moved.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"

namespace leat::xml {

struct Limits {
  std::size_t size_max_bytes = 1 * kMiB;
  std::size_t depth_max = 32;
  std::size_t elements_max = 100'000;  // 10 000 parts of an upload have 10 elements each at most
};

// What an element is made of; for Document and Element alone.
struct Node {
  static constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();
  std::string_view name;
  std::string_view text;
  std::uint32_t first_child = kNone;
  std::uint32_t next = kNone;
};

class Element {
 public:
  class Children;

  Element(const Node* nodes, std::uint32_t index) : nodes_(nodes), index_(index) {}

  std::string_view name() const { return node().name; }
  std::string_view text() const { return node().text; }
  Children children() const;

  // Nothing without a child of that name.
  // Errors: bad_request if there are several: which one is meant must not depend on the reader.
  Result<std::optional<Element>> find_one(std::string_view name) const;
  // Errors: bad_request unless there is exactly one.
  Result<Element> need_one(std::string_view name) const;

 private:
  const Node& node() const { return nodes_[index_]; }

  const Node* nodes_;
  std::uint32_t index_;
};

class Element::Children {
 public:
  class Iterator {
   public:
    Iterator(const Node* nodes, std::uint32_t index) : nodes_(nodes), index_(index) {}
    Element operator*() const { return {nodes_, index_}; }
    Iterator& operator++() {
      index_ = nodes_[index_].next;
      return *this;
    }
    bool operator==(const Iterator&) const = default;

   private:
    const Node* nodes_;
    std::uint32_t index_;
  };

  Children(const Node* nodes, std::uint32_t first) : nodes_(nodes), first_(first) {}
  Iterator begin() const { return {nodes_, first_}; }
  Iterator end() const { return {nodes_, Node::kNone}; }

 private:
  const Node* nodes_;
  std::uint32_t first_;
};

inline Element::Children Element::children() const {
  return {nodes_, node().first_child};
}

class Document {
 public:
  // Errors: too_large (bytes or elements), bad_request (everything else).
  static Result<Document> parse(Bytes body, const Limits& limits = {});

  Element root() const { return {nodes_.data(), 0}; }

 private:
  friend class Builder;
  Document() = default;

  std::vector<char> text_;  // names and texts; never grows once views point into it
  std::vector<Node> nodes_;
};

}  // namespace leat::xml
