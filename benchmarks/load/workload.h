// Workload: which objects a benchmark writes and reads, the same for Leat and its peers.
//
// Object number 123456 is called 00123/456: as a file it lies in a folder of a thousand, so that
// the peers are not punished for folders that nobody would make. Its bytes begin with its number,
// so that no two are alike and a reader can tell whether it was given the right one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "load/figures.h"

namespace leat::benchmarks {

struct Workload {
  std::string directory;
  std::string prefix;  // of every name
  std::uint64_t size = 4096;
  std::uint64_t first = 0;  // number of the first object
  std::uint64_t count = 0;  // objects; 0: as many as there is time for
  double seconds = 0;
  std::size_t tasks = 1;    // how many work at a time
  std::uint32_t cores = 0;  // 0: all
};

std::string name_of(const Workload& work, std::uint64_t number);

// All numbers of the workload in an order that is no order of names; the same every time.
class Scramble {
 public:
  explicit Scramble(const Workload& work);
  std::uint64_t at(std::uint64_t position) const;

 private:
  std::uint64_t first_;
  std::uint64_t count_;
  std::uint64_t step_;
};

// Random bytes that are cut into objects.
std::string make_content(std::uint64_t size);
// Puts the number at the head of the content.
void stamp(std::string& content, std::uint64_t number);
bool is_stamped(std::string_view content, std::uint64_t number);

// What one measurement gave.
struct Outcome {
  std::uint64_t operations = 0;
  std::uint64_t bytes = 0;
  Nanos elapsed = 0;
  std::vector<Nanos> latencies{};

  void add(Outcome&& other);
};

// One line of JSON on stdout, with the memory of the process.
void report(Outcome outcome);

}  // namespace leat::benchmarks
