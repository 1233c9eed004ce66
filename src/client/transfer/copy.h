// Copies from object to object, made by the service: no byte comes here.
#pragma once

#include "s3client/operations.h"
#include "transfer/tools.h"

namespace leat::transfer {

struct CopyJob {
  s3client::ObjectName source{};
  s3client::ObjectName target{};
  std::uint64_t size_bytes = 0;
  std::string etag{};  // of the source; empty: whichever is there
};

// Above 5 GiB in parts, several at a time. Type, metadata, fields and tags go with the bytes.
// Errors: precondition_failed, when the source is another object now.
rt::Task<void> copy_on_service(Tools& tools, CopyJob job);

}  // namespace leat::transfer
