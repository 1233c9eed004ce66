#include "tls/stream_bio.h"

#include <openssl/bio.h>

#include <span>

#include "base/check.h"

namespace leat::tls {

// The functions that OpenSSL calls, by the signatures it wants.
struct BioCalls {
  static StreamBio& self(BIO* bio) { return *static_cast<StreamBio*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* target, std::size_t size, std::size_t* count) {
    StreamBio& self = BioCalls::self(bio);
    BIO_clear_retry_flags(bio);
    auto got = self.stream_.try_read(std::as_writable_bytes(std::span(target, size)));
    *count = got.value_or(0);
    if (*count > 0) return 1;
    if (got) {
      self.ended_ = true;
      self.failure_.emplace(Errc::closed, "the connection was cut: TLS did not say goodbye");
    } else if (got.error().code() == Errc::would_block) {
      BIO_set_retry_read(bio);
    } else {
      self.failure_.emplace(std::move(got).error());
    }
    return 0;
  }

  static int write(BIO* bio, const char* source, std::size_t size, std::size_t* count) {
    StreamBio& self = BioCalls::self(bio);
    BIO_clear_retry_flags(bio);
    const Bytes piece = std::as_bytes(std::span(source, size));
    auto sent = self.stream_.try_write(std::span(&piece, 1), self.flush_);
    *count = sent.value_or(0);
    if (sent) return 1;
    if (sent.error().code() == Errc::would_block) {
      BIO_set_retry_write(bio);
    } else {
      self.failure_.emplace(std::move(sent).error());
    }
    return 0;
  }

  static long control(BIO* bio, int command, long, void*) {
    if (command == BIO_CTRL_FLUSH) return 1;  // every write has already gone to the stream
    if (command == BIO_CTRL_EOF) return self(bio).ended_ ? 1 : 0;
    return 0;
  }

  static BIO_METHOD* make_method() {
    BIO_METHOD* method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "io::Stream");
    LEAT_CHECK(method != nullptr);
    BIO_meth_set_read_ex(method, read);
    BIO_meth_set_write_ex(method, write);
    BIO_meth_set_ctrl(method, control);
    return method;
  }
};

BioPtr StreamBio::bio() {
  // A table of functions: made once, never changed, needed as long as any BIO.
  static const BIO_METHOD* const kMethod = BioCalls::make_method();
  BioPtr bio(BIO_new(kMethod));
  LEAT_CHECK(bio != nullptr);
  BIO_set_data(bio.get(), this);
  BIO_set_init(bio.get(), 1);
  return bio;
}

}  // namespace leat::tls
