#include "golden/golden_order.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

#include "base/encoding.h"
#include "order/epoch.h"
#include "order/mixing.h"
#include "order/permutation.h"
#include "order/proportions.h"

namespace leat::golden {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::string_view kHead =
    "# Vectors of order_version 1, docs/formats/order.md. What is left of the colon is given, "
    "what\n"
    "# is right of it must come out. Numbers are decimal, fingerprints hexadecimal.\n"
    "#   mix x: mix(x)\n"
    "#   below key bound: the first numbers below bound that the key draws\n"
    "#   permutation n key: of 0, 1, … 7 (as far as there are so many), and of n - 1\n"
    "#   epoch shuffle window seed epoch fingerprint blocks: block/slot of every position;\n"
    "#     block b has 7 * b mod 5 samples\n"
    "#   pick position weights…: source/number of the 12 positions from there on in a mix\n"
    "#   source runs seed: the order of the runs\n"
    "#   mixer capacity seed items: the items in the order in which they leave\n";

std::string line(std::string_view given, const Numbers& numbers) {
  return fmt::format("{}: {}\n", given, fmt::join(numbers, " "));
}

std::string below_line(std::uint64_t key, std::uint64_t bound) {
  order::Draws draws(key);
  Numbers drawn(8);
  std::ranges::generate(drawn, [&] { return draws.below(bound); });
  return line(fmt::format("below {} {}", key, bound), drawn);
}

std::string permutation_line(std::uint64_t n, std::uint64_t key) {
  const order::Permutation permutation(n, key);
  Numbers values;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(n, 8); ++i)
    values.push_back(permutation(i));
  values.push_back(permutation(n - 1));
  return line(fmt::format("permutation {} {}", n, key), values);
}

std::string_view name_of(order::Shuffle shuffle) {
  if (shuffle == order::Shuffle::none) return "none";
  return shuffle == order::Shuffle::block ? "block" : "full";
}

std::string epoch_line(const order::EpochOptions& options, std::uint64_t blocks) {
  std::vector<std::uint32_t> counts;
  for (std::uint64_t block = 0; block < blocks; ++block)
    counts.push_back(static_cast<std::uint32_t>(block * 7 % 5));
  const order::Epoch epoch(counts, options);
  std::string text =
      fmt::format("epoch {} {} {} {} {} {}:", name_of(options.shuffle), options.window_blocks,
                  options.seed, options.epoch, to_hex(options.fingerprint), blocks);
  for (std::uint64_t i = 0; i < epoch.size(); ++i) {
    const order::Place place = epoch.at(i);
    text += fmt::format(" {}/{}", place.block, place.slot);
  }
  return text + "\n";
}

std::string epoch_lines() {
  order::Fingerprint fingerprint{};
  for (std::size_t i = 0; i < fingerprint.size(); ++i)
    fingerprint[i] = static_cast<std::byte>(16 * i + 15 - i);
  std::string text;
  for (const auto shuffle : {order::Shuffle::none, order::Shuffle::block, order::Shuffle::full}) {
    order::EpochOptions options{.shuffle = shuffle, .window_blocks = 4, .seed = 42, .epoch = 3};
    text += epoch_line(options, 0);
    text += epoch_line(options, 1);
    text += epoch_line(options, 30);
    options.fingerprint = fingerprint;
    text += epoch_line(options, 30);
    options.window_blocks = 40;
    options.seed = ~std::uint64_t{0};
    text += epoch_line(options, 90);
  }
  return text;
}

std::string pick_line(std::uint64_t first, const std::vector<double>& weights) {
  const order::Proportions mix(weights);
  std::string text = fmt::format("pick {} {}:", first, fmt::join(weights, " "));
  for (std::uint64_t i = 0; i < 12; ++i) {
    const order::Proportions::Pick pick = mix.at(first + i);
    text += fmt::format(" {}/{}", pick.source, pick.number);
  }
  return text + "\n";
}

std::string source_line(std::uint64_t runs, std::uint64_t seed) {
  const order::Permutation permutation = order::source_order(runs, seed);
  Numbers values;
  for (std::uint64_t i = 0; i < runs; ++i)
    values.push_back(permutation(i));
  return line(fmt::format("source {} {}", runs, seed), values);
}

std::string mixer_line(std::uint64_t capacity, std::uint64_t seed, std::uint64_t items) {
  order::Mixer mixer(capacity, seed);
  Numbers held(capacity);
  Numbers out;
  for (std::uint64_t item = 0; item < items; ++item) {
    const order::Mixer::Decision decision = mixer.on_item();
    if (decision.emits) out.push_back(held[decision.slot]);
    held[decision.slot] = item;
  }
  while (const auto slot = mixer.on_end())
    out.push_back(held[*slot]);
  return line(fmt::format("mixer {} {} {}", capacity, seed, items), out);
}

}  // namespace

std::string make_order_vectors() {
  std::string text(kHead);
  for (const std::uint64_t x : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{42},
                                ~std::uint64_t{0}, std::uint64_t{0x0123456789abcdef}})
    text += line(fmt::format("mix {}", x), {order::mix(x)});
  const std::uint64_t half = std::uint64_t{1} << 63;
  for (const std::uint64_t bound :
       {std::uint64_t{1}, std::uint64_t{7}, std::uint64_t{1000}, half + 1, ~std::uint64_t{0}})
    text += below_line(42, bound);
  for (const std::uint64_t n :
       {1U, 2U, 5U, 63U, 64U, 65U, 66U, 127U, 128U, 129U, 1000U, 65536U, 65537U, 1281167U}) {
    text += permutation_line(n, 0);
    text += permutation_line(n, 42);
  }
  for (const std::uint64_t n :
       {std::uint64_t{1} << 40, half - 1, half, half + 1, ~std::uint64_t{0}})
    text += permutation_line(n, 42);
  text += epoch_lines();
  for (const std::uint64_t first :
       {std::uint64_t{0}, std::uint64_t{1000}, std::uint64_t{1} << 40}) {
    text += pick_line(first, {1});
    text += pick_line(first, {0.7, 0.3});
    text += pick_line(first, {5, 3, 2});
    text += pick_line(first, {1, 1000, 0.5, 3});
  }
  text += source_line(20, 7);
  text += source_line(100, 7);
  text += mixer_line(1, 7, 5);
  text += mixer_line(8, 7, 5);
  text += mixer_line(8, 7, 40);
  text += mixer_line(100, 9, 150);
  return text;
}

}  // namespace leat::golden
