// Unix sockets: streams between processes of one machine, over which open files travel.
//
// A name is the path of a socket, or '@' and a name of the kernel's own (an abstract one): that is
// seen by the processes that share a network namespace, as loopback is, has no permissions, and is
// gone with its listener. A path is seen by whoever sees its folder, so also by a container that
// has the folder mounted.
//
// There is no simulated one: simulated files have no descriptors to pass. What decides is tested
// without sockets, the rest on real ones.
//
// Shard: a listener or stream belongs to the shard it was made for.
#pragma once

#include <sys/types.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "io/descriptor.h"
#include "io/tcp_stream.h"

namespace leat::io {

// Who is at the other end, as the kernel knows it.
struct UnixPeer {
  pid_t process = 0;  // 0: in another container
  uid_t user = 0;
};

class UnixStream final : public Stream {
 public:
  // As many descriptors as one message carries.
  static constexpr std::size_t kDescriptorsMax = 253;

  // Requires: `fd` is a connected, non-blocking Unix stream socket.
  UnixStream(const rt::Executor& executor, Descriptor fd, std::string name);

  // As try_write(); the descriptors go with the first byte, all or none.
  // Requires: at most kDescriptorsMax; `bytes` is not empty.
  // Errors: those of try_write(); busy, when too many are on their way already.
  Result<std::size_t> try_write_with(Bytes bytes, std::span<const int> descriptors);

  // As try_read(); adds the descriptors that came with the bytes.
  // Errors: those of try_read(); busy, when this process can have no more descriptors.
  Result<std::size_t> try_read_with(MutableBytes target, std::vector<Descriptor>& descriptors);

  Result<UnixPeer> who() const;

  // Plain bytes are sent as over TCP; descriptors that come with them are dropped.
  Result<std::size_t> try_read(MutableBytes target) override { return socket_.try_read(target); }
  Result<std::size_t> try_write(std::span<const Bytes> pieces, Flush flush) override {
    return socket_.try_write(pieces, flush);
  }
  Result<std::size_t> try_send_file(const File& file, std::uint64_t offset,
                                    std::size_t length) override {
    return socket_.try_send_file(file, offset, length);
  }
  bool can_send_file() const override { return true; }
  rt::Task<void> wait(Interest interest) override { return socket_.wait(interest); }
  void interrupt(Errc reason) override { socket_.interrupt(reason); }
  void finish_writing() override { socket_.finish_writing(); }
  // The name of the socket as the host, without a port.
  const Address& peer() const override { return socket_.peer(); }
  bool is_encrypted() const override { return false; }

 private:
  mutable TcpStream socket_;  // what is not about descriptors is the same for both kinds
};

class UnixListener {
 public:
  // Takes the name. A path where a listener that ended left its socket is taken over; everybody of
  // the machine may connect. Errors: conflict (in use), denied, bad_request (too long a name), io.
  static Result<std::unique_ptr<UnixListener>> listen(rt::Shard& shard, const std::string& name);
  ~UnixListener();

  // Errors: closed (after close()), busy (out of descriptors: wait, then go on), io.
  rt::Task<std::unique_ptr<UnixStream>> accept();
  // Removes its path, too.
  void close();

  const std::string& name() const { return name_; }

 private:
  UnixListener(rt::Shard& shard, Descriptor fd, std::string name);

  rt::Shard& shard_;
  boost::asio::posix::basic_stream_descriptor<rt::Executor> socket_;
  const std::string name_;
  bool is_closed_ = false;
};

// Never waits. Errors: not_found, unavailable (nobody listens there), denied, busy (too many wait
// to be accepted), bad_request.
Result<std::unique_ptr<UnixStream>> connect_unix(rt::Shard& shard, const std::string& name);

// All of `bytes`, the descriptors with the first. Lifetime: both outlive the task.
rt::Task<void> write_all_with(UnixStream& stream, Bytes bytes, std::span<const int> descriptors);

// Fills `target`; adds the descriptors that came on the way. Lifetime: both outlive the task.
// Errors: closed, when the peer ends before.
rt::Task<void> read_all_with(UnixStream& stream, MutableBytes target,
                             std::vector<Descriptor>& descriptors);

}  // namespace leat::io
