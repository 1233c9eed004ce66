#include "load/workload.h"

#include <cstring>
#include <fstream>
#include <numeric>
#include <random>

namespace leat::benchmarks {
namespace {

std::uint64_t status_kib(std::string_view field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(field)) return std::stoull(line.substr(field.size()));
  }
  return 0;
}

}  // namespace

std::string name_of(const Workload& work, std::uint64_t number) {
  return fmt::format("{}{:05}/{:03}", work.prefix, number / 1000, number % 1000);
}

// Any step without a common divisor visits all numbers; one near the golden section spreads them.
Scramble::Scramble(const Workload& work)
    : first_(work.first), count_(work.count), step_(work.count * 618 / 1000 + 1) {
  while (std::gcd(step_, count_) != 1)
    ++step_;
}

std::uint64_t Scramble::at(std::uint64_t position) const {
  return first_ + position * step_ % count_;
}

std::string make_content(std::uint64_t size) {
  std::string content(size, '\0');
  std::mt19937_64 bytes(size);
  for (char& byte : content)
    byte = static_cast<char>(bytes());
  return content;
}

void stamp(std::string& content, std::uint64_t number) {
  std::memcpy(content.data(), &number, std::min(sizeof number, content.size()));
}

bool is_stamped(std::string_view content, std::uint64_t number) {
  return std::memcmp(content.data(), &number, std::min(sizeof number, content.size())) == 0;
}

void Outcome::add(Outcome&& other) {
  operations += other.operations;
  bytes += other.bytes;
  elapsed = std::max(elapsed, other.elapsed);
  latencies.insert(latencies.end(), other.latencies.begin(), other.latencies.end());
}

void report(Outcome outcome) {
  const double seconds = static_cast<double>(outcome.elapsed) / kSecond;
  const double per_second = seconds > 0 ? 1 / seconds : 0;
  fmt::print(R"({{"operations":{},"bytes":{},"seconds":{:.6f},"per_s":{:.1f},"mb_per_s":{:.3f},)"
             R"("latency_us":{},"rss_bytes":{},"rss_max_bytes":{}}})"
             "\n",
             outcome.operations, outcome.bytes, seconds,
             static_cast<double>(outcome.operations) * per_second,
             static_cast<double>(outcome.bytes) * per_second / 1e6,
             percentiles_json(outcome.latencies), status_kib("VmRSS:") * 1024,
             status_kib("VmHWM:") * 1024);
}

}  // namespace leat::benchmarks
