#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

namespace weft {

// A header of a request, or an attribute of the resource.
struct otlp_field {
  std::string name;
  std::string value;
};

struct otlp_options {
  // Where a collector listens for OTLP/HTTP. /v1/traces and /v1/metrics are appended. Only http:
  // for a way through a network that others see, run a collector beside the program.
  std::string endpoint = "http://localhost:4318";
  // What people look for in the system that shows it.
  std::string service_name = "unknown_service";
  // What else is to be known of the program: {"deployment.environment.name", "test"}.
  std::vector<otlp_field> resource = {};
  // Such as {"authorization", "Bearer ..."}.
  std::vector<otlp_field> headers = {};

  // From one export to the next; more than 0.
  std::chrono::milliseconds interval = std::chrono::seconds(5);
  // Of one request, from connecting to the last byte of the answer; more than 0.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  // How long the destructor goes on sending what is left; 0: not at all.
  std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(2);
  // After a collector that is not there or has too much to do: the first pause, which doubles, and
  // the longest. Both are shortened by up to a half, at random.
  std::chrono::milliseconds backoff_first = std::chrono::seconds(1);
  std::chrono::milliseconds backoff_max = std::chrono::seconds(30);

  // Spans that wait to be sent; the oldest are dropped first. At least 1.
  std::size_t spans_max = 20'000;
  // Spans in one request, at least 1.
  std::size_t batch_size = 512;

  // Is told what went wrong, as stats().last_error is, by the thread of the exporter. Must not
  // throw.
  std::function<void(const std::string& message)> on_error = nullptr;

  // What the standard variables say, and the defaults for the rest: OTEL_EXPORTER_OTLP_ENDPOINT,
  // OTEL_EXPORTER_OTLP_HEADERS, OTEL_SERVICE_NAME, OTEL_RESOURCE_ATTRIBUTES. One that is empty
  // counts as not set. Errors: std::invalid_argument that names the variable.
  [[nodiscard]] static otlp_options from_environment();
};

}  // namespace weft
