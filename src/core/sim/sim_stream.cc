#include "sim/sim_stream.h"

#include <utility>

namespace leat::sim {

SimStream::SimStream(SimFabric& fabric, std::uint64_t id, std::shared_ptr<Connection> connection,
                     Connection::Side side)
    : fabric_(fabric), id_(id), connection_(std::move(connection)), side_(side) {}

SimStream::~SimStream() {
  connection_->close(side_);
  if (connection_->is_abandoned()) fabric_.forget(id_);
}

Result<std::size_t> SimStream::try_read(MutableBytes target) {
  return connection_->read(side_, target);
}

Result<std::size_t> SimStream::try_write(std::span<const Bytes> pieces, io::Flush) {
  return connection_->write(side_, pieces);
}

Result<std::size_t> SimStream::try_send_file(const io::File&, std::uint64_t, std::size_t) {
  return fail(Errc::not_implemented, "a simulated stream sends no files");
}

rt::Task<void> SimStream::wait(io::Interest interest) {
  return rt::suspend<void>([this, interest](rt::Resume<void> resume) {
    connection_->wait(side_, interest, std::move(resume));
  });
}

void SimStream::interrupt(Errc reason) {
  connection_->interrupt(side_, reason);
}

void SimStream::finish_writing() {
  connection_->finish_writing(side_);
}

const io::Address& SimStream::peer() const {
  return connection_->address(Connection::other(side_));
}

SimListener::SimListener(SimFabric& fabric, std::shared_ptr<SimFabric::Port> port)
    : fabric_(fabric), port_(std::move(port)) {}

rt::Task<std::unique_ptr<io::Stream>> SimListener::accept() {
  using Accepted = std::unique_ptr<io::Stream>;
  return rt::suspend<Accepted>([port = port_](rt::Resume<Accepted> resume) {
    if (port->is_closed) return resume(fail(Errc::closed));
    if (port->backlog.empty()) return port->waiters.push_back(std::move(resume));
    Accepted first = std::move(port->backlog.front());
    port->backlog.pop_front();
    resume(std::move(first));
  });
}

void SimListener::close() {
  fabric_.close(*port_);
}

}  // namespace leat::sim
