// bucket: what a bucket is set to, through the sub-resources of S3.
#include <fmt/format.h>

#include <array>

#include "leat/client_session.h"
#include "leat/json_text.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "s3client/operations.h"
#include "xml/writer.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  leat bucket show photos\n"
    "  leat bucket set photos versioning=enabled       or versioning=suspended\n"
    "  leat bucket set photos policy=policy.json lifecycle=rules.xml cors=cors.xml\n"
    "  leat bucket unset photos policy\n"
    "\n"
    "policy, lifecycle and cors name files, as aws s3api takes them. What the service does not "
    "know\n"
    "is shown as \"not supported\".";

struct Property {
  std::string_view name;
  std::string_view missing;  // the S3 code of one that is not set
};
constexpr std::array kProperties = {
    Property{"location", ""},
    Property{"versioning", ""},
    Property{"policy", "NoSuchBucketPolicy"},
    Property{"lifecycle", "NoSuchLifecycleConfiguration"},
    Property{"cors", "NoSuchCORSConfiguration"},
};

s3client::Request request_for(std::string method, const std::string& bucket,
                              std::string_view property) {
  s3client::Request request{.method = std::move(method)};
  request.name.bucket = bucket;
  request.query.push_back({std::string(property), ""});
  return request;
}

// What people read: the one word of location and versioning, the document of the others.
std::string readable(std::string_view property, const std::string& body) {
  if (property == "policy") return body;
  const auto start = [&](std::string_view open, std::string_view close) -> std::string {
    const std::size_t at = body.find(open);
    if (at == body.npos) return "";
    const std::size_t from = at + open.size();
    return body.substr(from, body.find(close, from) - from);
  };
  if (property == "versioning") {
    const std::string status = start("<Status>", "</Status>");
    return status.empty() ? "off" : status;
  }
  if (property == "location") {
    const std::size_t end = body.rfind("</LocationConstraint>");
    if (end == body.npos) return "us-east-1";
    const std::size_t from = body.rfind('>', end - 1) + 1;
    return from >= end ? "us-east-1" : body.substr(from, end - from);
  }
  return body;
}

rt::Task<std::string> value_of(Session& session, std::string bucket, Property property) {
  const s3client::Request request = request_for("GET", bucket, property.name);
  auto answer = co_await session.client().ask(request);
  if (answer) co_return readable(property.name, answer->body);
  const Error& error = answer.error();
  if (error.code() == Errc::not_implemented) co_return std::string("not supported");
  const bool is_unset =
      !property.missing.empty() && error.detail().find(property.missing) != std::string_view::npos;
  if (is_unset) co_return std::string("none");
  co_return fail(error.clone());
}

rt::Task<Exit> show(Session& session, std::string bucket) {
  LEAT_CO_DO(co_await s3client::head_bucket(session.client(), bucket));
  nlohmann::json document = {{"name", bucket}};
  for (const Property& property : kProperties) {
    LEAT_CO_TRY(const std::string value, co_await value_of(session, bucket, property));
    if (session.wants_json()) {
      document[std::string(property.name)] = value;
    } else {
      say("{:<12}{}\n", property.name, value);
    }
  }
  if (session.wants_json()) say("{}\n", json_text(document));
  co_return Exit::done;
}

Result<std::string> body_for(std::string_view property, const std::string& value) {
  if (property != "versioning") return read_text(value);
  std::string body;
  xml::Writer xml(body);
  xml.open("VersioningConfiguration", "http://s3.amazonaws.com/doc/2006-03-01/");
  if (value != "enabled" && value != "suspended") {
    return fail(Errc::bad_request, "versioning: expected enabled or suspended");
  }
  xml.element("Status", value == "enabled" ? "Enabled" : "Suspended");
  xml.close();
  return body;
}

Status check_settable(std::string_view property) {
  for (const Property& known : kProperties) {
    if (known.name == property && property != "location") return {};
  }
  return fail(Errc::bad_request,
              fmt::format("{}: expected versioning, policy, lifecycle or cors", property));
}

rt::Task<void> set(Session& session, std::string bucket, std::string word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) {
    co_return fail(Errc::bad_request, fmt::format("{}: expected NAME=VALUE", word));
  }
  const std::string property = word.substr(0, equals);
  LEAT_CO_DO(check_settable(property));
  LEAT_CO_TRY(const std::string body, body_for(property, word.substr(equals + 1)));
  s3client::Request request = request_for("PUT", bucket, property);
  hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
  checksum.update(as_bytes(body));
  request.fields.push_back({"x-amz-checksum-crc64nvme", checksum.finish().base64()});
  request.body = as_bytes(body);
  LEAT_CO_DO(co_await session.client().ask(request));
  co_return Status{};
}

rt::Task<void> unset(Session& session, std::string bucket, std::string property) {
  LEAT_CO_DO(check_settable(property));
  if (property == "versioning") {
    co_return fail(Errc::bad_request, "versioning cannot be unset, only suspended");
  }
  const s3client::Request request = request_for("DELETE", bucket, property);
  LEAT_CO_DO(co_await session.client().ask(request));
  co_return Status{};
}

rt::Task<Exit> bucket(Session& session) {
  const auto& words = session.words();
  const std::string& verb = words[0];
  if (verb == "show" && words.size() == 2) co_return co_await show(session, words[1]);
  const bool is_set = verb == "set";
  if ((!is_set && verb != "unset") || words.size() < 3) {
    co_return fail(Errc::bad_request,
                   "leat bucket show BUCKET, leat bucket set BUCKET NAME=VALUE… or leat bucket "
                   "unset BUCKET NAME…");
  }
  for (std::size_t i = 2; i < words.size(); ++i) {
    if (is_set) {
      LEAT_CO_DO(co_await set(session, words[1], words[i]));
    } else {
      LEAT_CO_DO(co_await unset(session, words[1], words[i]));
    }
  }
  co_return Exit::done;
}

}  // namespace

Exit run_bucket(const Invocation& invocation) {
  const Grammar grammar{.command = find_command("bucket"),
                        .positional = "show|set|unset",
                        .positionals_min = 2,
                        .positionals_max = 16,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {bucket});
}

}  // namespace leat::programs
