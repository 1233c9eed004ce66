#include "leat/node_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace leat::programs {
namespace {

using nlohmann::json;

std::string path_in(const std::string& directory) {
  return directory + "/node.json";
}

}  // namespace

io::Address reachable(io::Address address) {
  if (address.host == "0.0.0.0") address.host = "127.0.0.1";
  if (address.host == "::") address.host = "::1";
  return address;
}

Result<std::unique_ptr<io::File>> publish_node(io::Disk& disk, const std::string& directory,
                                               const NodeFile& node) {
  const std::string path = path_in(directory);
  const std::string fresh = path + ".new";
  if (disk.info(fresh)) LEAT_DO(disk.remove(fresh));
  LEAT_TRY(auto file, disk.open(fresh, io::OpenMode::create_new));
  LEAT_DO(file->lock());
  const json document = {{"url", node.url}, {"region", node.region}, {"ca_file", node.ca_file}};
  const std::string text = document.dump() + "\n";
  LEAT_DO(file->write_all_at(0, as_bytes(text)));
  LEAT_DO(disk.rename(fresh, path));
  return file;
}

Result<std::optional<NodeFile>> running_node(io::Disk& disk, const std::string& directory) {
  const std::string path = path_in(directory);
  auto file = disk.open(path, io::OpenMode::read);
  if (!file && file.error().code() == Errc::not_found) return std::optional<NodeFile>();
  if (!file) return fail(std::move(file).error());
  const Status held = (*file)->lock();
  if (held) return std::optional<NodeFile>();  // of a process that is gone
  if (held.error().code() != Errc::conflict) return fail(held.error().clone());
  LEAT_TRY(const auto info, (*file)->info());
  std::string text(info.size_bytes, '\0');
  LEAT_TRY(const std::size_t got, (*file)->read_at(0, std::as_writable_bytes(std::span(text))));
  text.resize(got);
  const json document = json::parse(text, nullptr, false);
  if (!document.is_object()) {
    return fail(Errc::corrupt,
                fmt::format("{} is no JSON object; --listen says where the node is", path));
  }
  const auto member = [&document](const char* name) {
    const auto found = document.find(name);
    const bool is_text = found != document.end() && found->is_string();
    return is_text ? found->get<std::string>() : std::string();
  };
  return std::optional(
      NodeFile{.url = member("url"), .region = member("region"), .ca_file = member("ca_file")});
}

}  // namespace leat::programs
