// SimStream and SimListener: the io interfaces over a Connection and a port of the fabric.
#pragma once

#include <memory>

#include "io/network.h"
#include "sim/sim_network.h"

namespace leat::sim {

class SimStream final : public io::Stream {
 public:
  SimStream(SimFabric& fabric, std::uint64_t id, std::shared_ptr<Connection> connection,
            Connection::Side side);
  SimStream(const SimStream&) = delete;
  SimStream& operator=(const SimStream&) = delete;
  ~SimStream() override;

  Result<std::size_t> try_read(MutableBytes target) override;
  Result<std::size_t> try_write(std::span<const Bytes> pieces, io::Flush flush) override;
  Result<std::size_t> try_send_file(const io::File& file, std::uint64_t offset,
                                    std::size_t length) override;
  bool can_send_file() const override { return false; }
  rt::Task<void> wait(io::Interest interest) override;
  void interrupt(Errc reason) override;
  void finish_writing() override;
  const io::Address& peer() const override;
  bool is_encrypted() const override { return false; }

  // Closes this end at once and resets the other.
  void abort() { connection_->abort(side_); }

 private:
  SimFabric& fabric_;
  const std::uint64_t id_;
  const std::shared_ptr<Connection> connection_;
  const Connection::Side side_;
};

class SimListener final : public io::Listener {
 public:
  SimListener(SimFabric& fabric, std::shared_ptr<SimFabric::Port> port);
  SimListener(const SimListener&) = delete;
  SimListener& operator=(const SimListener&) = delete;
  ~SimListener() override { close(); }

  rt::Task<std::unique_ptr<io::Stream>> accept() override;
  void close() override;
  const io::Address& address() const override { return port_->address; }

 private:
  SimFabric& fabric_;
  const std::shared_ptr<SimFabric::Port> port_;
};

}  // namespace leat::sim
