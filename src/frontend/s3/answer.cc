#include "s3/answer.h"

#include <fmt/format.h>

#include <chrono>

#include "s3/target.h"
#include "xml/writer.h"

namespace leat::s3 {
namespace {

std::string_view sentence(S3Code code) {
  switch (code) {
    case S3Code::access_denied: return kAccessDenied;
    case S3Code::no_such_key: return "The specified key does not exist.";
    case S3Code::no_such_bucket: return "The specified bucket does not exist";
    case S3Code::no_such_upload:
      return "The specified upload does not exist. The upload ID may be invalid, or the upload may "
             "have been aborted or completed.";
    case S3Code::precondition_failed:
      return "At least one of the pre-conditions you specified did not hold";
    case S3Code::invalid_range: return "The requested range is not satisfiable";
    case S3Code::key_too_long: return "Your key is too long";
    case S3Code::malformed_xml:
      return "The XML you provided was not well-formed or did not validate against our published "
             "schema";
    case S3Code::bucket_not_empty:
      return "The bucket you tried to delete is not empty: objects, old versions, delete markers "
             "and uploads in parts count";
    case S3Code::bucket_already_owned_by_you:
      return "Your previous request to create the named bucket succeeded and you already own it.";
    case S3Code::invalid_part:
      return "One or more of the specified parts could not be found. The part may not have been "
             "uploaded, or the specified entity tag may not match the part's entity tag.";
    case S3Code::invalid_part_order:
      return "The list of parts was not in ascending order. Parts must be ordered by part number.";
    case S3Code::entity_too_small:
      return "Your proposed upload is smaller than the minimum allowed size";
    case S3Code::entity_too_large: return "Your proposed upload exceeds the maximum allowed size";
    case S3Code::slow_down: return "Please reduce your request rate.";
    case S3Code::internal_error: return "We encountered an internal error. Please try again.";
    default: return "";
  }
}

}  // namespace

std::unexpected<S3Error> refuse(S3Code code) {
  return refuse(code, std::string(sentence(code)));
}

std::unexpected<S3Error> refuse_name(std::string_view bucket) {
  return refuse(S3Code::invalid_bucket_name,
                fmt::format("The specified bucket is not valid: {}.", broken_rule(bucket)));
}

S3Error told(const Error& error, S3Code missing) {
  S3Error said =
      error.code() == Errc::not_found ? S3Error{.code = missing} : s3error::from_error(error);
  // What went wrong inside is kept for the log; error_answer() does not show it.
  const std::string_view known = sentence(said.code);
  if (!known.empty() && said.code != S3Code::internal_error) said.message = known;
  return said;
}

http::Response error_answer(const S3Error& error, const Context& context) {
  std::string body;
  xml::Writer xml(body);
  xml.open("Error");
  xml.element("Code", s3error::text_of(error.code));
  xml.element("Message", error.code == S3Code::internal_error ? sentence(error.code)
                                                              : std::string_view(error.message));
  for (const auto& [name, value] : error.details)
    xml.element(name, value);
  xml.element("Resource", context.resource);
  xml.element("RequestId", fmt::format("{:016x}", context.request_id));
  xml.element("HostId", kOwner);
  xml.close();
  http::Response response = xml_answer(s3error::http_status(error.code), std::move(body));
  const bool is_passing =
      error.code == S3Code::slow_down || error.code == S3Code::service_unavailable;
  if (is_passing) response.add_checked("Retry-After: 1\r\n");
  for (const auto& [name, value] : error.fields)
    response.add_checked(fmt::format("{}: {}\r\n", name, value));
  add_ids(response, context.request_id);
  return response;
}

http::Response xml_answer(int status, std::string body) {
  return http::Response::text(status, "application/xml", std::move(body));
}

void add_ids(http::Response& response, std::uint64_t request_id) {
  response.add_checked(fmt::format(
      "Server: Leat\r\nx-amz-request-id: {:016x}\r\nx-amz-id-2: {}\r\n", request_id, kOwner));
}

std::string iso_time(std::int64_t ms_since_1970) {
  const std::chrono::sys_time<std::chrono::milliseconds> time{
      std::chrono::milliseconds(ms_since_1970)};
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                     clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                     clock.subseconds().count());
}

}  // namespace leat::s3
