// TcpStream: one TCP connection as a Stream. Made by TcpNetwork; used directly by the TLS module,
// which needs the descriptor.
#pragma once

#include <boost/asio/posix/basic_stream_descriptor.hpp>

#include "io/descriptor.h"
#include "io/stream.h"
#include "rt/shard.h"

namespace leat::io {

class TcpStream final : public Stream {
 public:
  // Requires: `fd` is a connected, non-blocking socket.
  TcpStream(const rt::Executor& executor, Descriptor fd, Address peer);
  ~TcpStream() override;

  Result<std::size_t> try_read(MutableBytes target) override;
  Result<std::size_t> try_write(std::span<const Bytes> pieces, Flush flush) override;
  Result<std::size_t> try_send_file(const File& file, std::uint64_t offset,
                                    std::size_t length) override;
  bool can_send_file() const override { return true; }
  void set_corked(bool corked) override;
  rt::Task<void> wait(Interest interest) override;
  void interrupt(Errc reason) override;
  void finish_writing() override;
  const Address& peer() const override { return peer_; }
  bool is_encrypted() const override { return false; }

  int descriptor() { return socket_.native_handle(); }

 private:
  boost::asio::posix::basic_stream_descriptor<rt::Executor> socket_;
  Address peer_;
  bool interrupted_ = false;
  Errc reason_ = Errc::cancelled;
};

}  // namespace leat::io
