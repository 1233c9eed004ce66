// bucket: what a bucket is set to, through the sub-resources of S3.
#include <fmt/format.h>

#include <array>

#include "config/parse.h"
#include "leat/change.h"
#include "leat/client_session.h"
#include "leat/columns.h"
#include "leat/json_text.h"
#include "leat/say.h"
#include "leat/settings.h"
#include "leat/subcommands.h"
#include "leat/table.h"
#include "record/keeping.h"
#include "s3client/operations.h"
#include "xml/writer.h"

namespace leat::programs {
namespace {

constexpr std::string_view kEpilogue =
    "  leat bucket show photos\n"
    "  leat bucket set photos versioning=enabled       or versioning=suspended\n"
    "  leat bucket set photos policy=policy.json lifecycle=rules.xml cors=cors.xml\n"
    "  leat bucket set photos etag=fast                ETags that cost no MD5; etag=md5 is usual\n"
    "  leat bucket set photos public-access=blocked    whatever policies and ACLs say\n"
    "  leat bucket set photos durability=group         or sync (usual), or relaxed\n"
    "  leat bucket set photos undo=7d                  deleted objects can be had back; or "
    "undo=off\n"
    "  leat bucket unset photos policy\n"
    "\n"
    "policy, lifecycle and cors name files: the JSON of a policy, the XML of S3 for the others.\n"
    "What the service does not know is shown as \"not supported\".";

constexpr std::array kSwitches = {kDrySwitch};

struct Property {
  std::string_view name;
  std::string_view missing;            // the S3 code of one that is not set
  std::string_view sub_resource = {};  // empty: called as the property
  // What a bucket has that nobody touched. Only of Leat's own: other services have no such
  // property.
  std::string_view usual = {};

  std::string_view query() const { return sub_resource.empty() ? name : sub_resource; }
};
constexpr std::array kProperties = {
    Property{"location", ""},
    Property{"versioning", ""},
    Property{"policy", "NoSuchBucketPolicy"},
    Property{"lifecycle", "NoSuchLifecycleConfiguration"},
    Property{"cors", "NoSuchCORSConfiguration"},
    Property{"public-access", "NoSuchPublicAccessBlockConfiguration", "publicAccessBlock"},
    Property{"etag", "", "leat-etag", "md5"},
    Property{"durability", "", "leat-durability", "sync"},
    Property{"undo", "", "leat-undo", "off"},
};

s3client::Request request_for(std::string method, const std::string& bucket,
                              const Property& property) {
  s3client::Request request{.method = std::move(method)};
  request.name.bucket = bucket;
  request.query.push_back({std::string(property.query()), ""});
  return request;
}

// What people read: the one word of location and versioning, the document of the others.
std::string readable(const Property& known, const std::string& body) {
  const std::string_view property = known.name;
  // Others take it for a listing of the bucket.
  if (!known.usual.empty()) return body.starts_with('<') ? "not supported" : body;
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
  if (property == "public-access") {
    const bool is_all = body.find("false") == body.npos;
    return is_all ? "blocked" : body;
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
  const s3client::Request request = request_for("GET", bucket, property);
  auto answer = co_await session.client().ask(request);
  if (answer) co_return readable(property, answer->body);
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
  std::vector<std::vector<std::string>> rows;
  for (const Property& property : kProperties) {
    LEAT_CO_TRY(const std::string value, co_await value_of(session, bucket, property));
    if (session.wants_json()) {
      document[std::string(property.name)] = value;
    } else {
      rows.push_back({std::string(property.name), value});
    }
  }
  if (session.wants_json()) {
    say("{}\n", json_text(document));
  } else {
    constexpr std::array kColumns = {Column{""}, Column{""}};
    say("{}", columns_text(kColumns, rows, session.invocation.stdout_is_terminal));
  }
  co_return Exit::done;
}

std::string public_access_block() {
  std::string body;
  xml::Writer xml(body);
  xml.open("PublicAccessBlockConfiguration", "http://s3.amazonaws.com/doc/2006-03-01/");
  for (const std::string_view flag :
       {"BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"})
    xml.element(flag, true);
  xml.close();
  return body;
}

Result<std::string> body_for(std::string_view property, const std::string& value) {
  if (property == "etag") {
    if (value == "md5" || value == "fast") return value;
    return fail(Errc::bad_request, "etag: expected md5 or fast");
  }
  if (property == "durability") {
    if (record::durability_from_word(value)) return value;
    return fail(Errc::bad_request, "durability: expected sync, group or relaxed");
  }
  if (property == "undo") {
    if (value == "off" || config::parse_duration(value)) return value;
    return fail(Errc::bad_request, "undo: expected off, or a time such as 12h or 7d");
  }
  if (property == "public-access") {
    if (value == "blocked") return public_access_block();
    return fail(Errc::bad_request, "public-access: expected blocked; unset opens it");
  }
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

Result<Property> settable(std::string_view name) {
  for (const Property& known : kProperties) {
    if (known.name == name && name != "location") return known;
  }
  return fail(Errc::bad_request,
              fmt::format("{}: expected versioning, policy, lifecycle, cors, public-access, etag, "
                          "durability or undo",
                          name));
}

rt::Task<void> put_property(Session& session, std::string bucket, Property property,
                            std::string body) {
  if (!property.usual.empty()) {
    // Others take it for the making of a bucket.
    LEAT_CO_TRY(const std::string now, co_await value_of(session, bucket, property));
    if (now == "not supported") {
      co_return fail(Errc::not_implemented,
                     fmt::format("{} is a property of Leat; this service has none", property.name));
    }
  }
  s3client::Request request = request_for("PUT", bucket, property);
  hash::Checksum checksum(hash::ChecksumAlgorithm::crc64nvme);
  checksum.update(as_bytes(body));
  request.fields.push_back({"x-amz-checksum-crc64nvme", checksum.finish().base64()});
  request.body = as_bytes(body);
  LEAT_CO_DO(co_await session.client().ask(request));
  co_return Status{};
}

void tell_property(const Session& session, std::string_view action, const std::string& bucket,
                   const Property& property, const nlohmann::json& value) {
  const std::string shown = fmt::format("{} of {}", property.name, bucket);
  tell(session.arguments, {.type = "property",
                           .action = action,
                           .name = std::string(property.name),
                           .shown = shown,
                           .done = fmt::format("{} {}", action, shown),
                           .more = {{"bucket", bucket}, {"value", value}}});
}

rt::Task<void> set(Session& session, std::string bucket, std::string word) {
  const std::size_t equals = word.find('=');
  if (equals == word.npos) {
    co_return fail(Errc::bad_request, fmt::format("{}: expected NAME=VALUE", word));
  }
  LEAT_CO_TRY(const Property property, settable(std::string_view(word).substr(0, equals)));
  const std::string value = word.substr(equals + 1);
  LEAT_CO_TRY(std::string body, body_for(property.name, value));
  if (session.arguments.has("--dry-run")) {
    LEAT_CO_DO(co_await s3client::head_bucket(session.client(), bucket));
  } else {
    LEAT_CO_DO(co_await put_property(session, bucket, property, std::move(body)));
  }
  tell_property(session, "set", bucket, property, value);
  co_return Status{};
}

rt::Task<void> unset(Session& session, std::string bucket, std::string name) {
  LEAT_CO_TRY(const Property property, settable(name));
  if (property.name == "versioning") {
    co_return fail(Errc::bad_request, "versioning cannot be unset, only suspended");
  }
  if (session.arguments.has("--dry-run")) {
    LEAT_CO_DO(co_await s3client::head_bucket(session.client(), bucket));
  } else if (!property.usual.empty()) {
    LEAT_CO_TRY(std::string usual, body_for(property.name, std::string(property.usual)));
    LEAT_CO_DO(co_await put_property(session, bucket, property, std::move(usual)));
  } else {
    const s3client::Request request = request_for("DELETE", bucket, property);
    LEAT_CO_DO(co_await session.client().ask(request));
  }
  tell_property(session, "unset", bucket, property, nullptr);
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
                        .switches = kSwitches,
                        .is_client = true,
                        .epilogue = kEpilogue};
  return run_client(grammar, invocation, {bucket});
}

}  // namespace leat::programs
