// TcpNetwork: the kernel's TCP behind io::Network, with zero-copy sends of files.
//
// Shard: belongs to the shard it was made for; listeners of several shards may share one address.
#pragma once

#include "io/network.h"
#include "rt/shard.h"

namespace leat::io {

struct TcpOptions {
  int listen_backlog = 4096;
  Duration connect_timeout = std::chrono::seconds(5);
  // What the kernel may buffer for one connection. 0 leaves it to the kernel.
  int send_buffer_bytes = 0;
};

class TcpNetwork final : public Network {
 public:
  // Lifetime: the shard outlives the network.
  TcpNetwork(rt::Shard& shard, TcpOptions options) : shard_(shard), options_(options) {}

  Result<std::unique_ptr<Listener>> listen(const Address& address) override;
  rt::Task<std::unique_ptr<Stream>> connect(Address address) override;

  // Because shards share their address, the kernel would let a second process share it as well.
  // Asked once before the first listen(), this says whether somebody is there. Two processes of one
  // user that start in the same instant may both be told that nobody is.
  // Errors: conflict (in use), denied, bad_request.
  static Status check_unused(const Address& address);

 private:
  rt::Shard& shard_;
  TcpOptions options_;
};

}  // namespace leat::io
