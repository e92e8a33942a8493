#include <weft/adapt/sensor/pressure.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <weft/base/cgroup.hpp>

#include "adapt/sensor/source.hpp"
#include "adapt/validate.hpp"
#include "base/text.hpp"

namespace weft::adapt {
namespace {

// A place whose pressure can be read: a group, or the whole machine.
struct place {
  std::string prefix;  // of the files' names
  std::string suffix;
  bool is_machine = false;

  [[nodiscard]] std::string file(pressure_resource resource) const {
    switch (resource) {
      case pressure_resource::cpu:
        return prefix + "cpu" + suffix;
      case pressure_resource::memory:
        return prefix + "memory" + suffix;
      case pressure_resource::io:
        return prefix + "io" + suffix;
    }
    return {};
  }
};

// The group at the top of the hierarchy stands for the machine; it is the only one without events.
bool is_top(const base::cgroup& group) {
  std::error_code ignored;
  return !std::filesystem::exists(group.directory + "/cgroup.events", ignored);
}

// Nearest first, the machine last. Only v2 has pressure files, and there one hierarchy serves all
// controllers.
std::vector<place> find_places(const std::string& root) {
  std::vector<place> places;
  for (const base::cgroup& group : base::own_cgroups(root, "cpu")) {
    if (group.version == base::cgroup_version::v2) {
      places.push_back({group.directory + "/", ".pressure", is_top(group)});
    }
  }
  places.push_back({root + "/proc/pressure/", "", true});
  return places;
}

// The kernel estimates, and may end up a little above 100.
std::optional<double> parse_share(std::string_view percent) {
  const auto value = base::parse_decimal(percent);
  if (!value || *value < 0) return std::nullopt;
  return std::min(*value / 100, 1.0);
}

std::optional<std::chrono::microseconds> parse_total(std::string_view text) {
  using std::chrono::microseconds;
  const auto total = base::parse_whole<std::uint64_t>(text);
  if (!total) return std::nullopt;
  const auto most = static_cast<std::uint64_t>(microseconds::max().count());
  return microseconds(static_cast<microseconds::rep>(std::min(*total, most)));
}

// Lines are `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`.
std::optional<stall> parse_stall(std::string_view text, std::string_view kind) {
  for (const std::string_view line : base::split(text, '\n')) {
    const auto fields = base::words(line);
    if (fields.size() < 5 || fields[0] != kind) continue;
    if (!fields[1].starts_with("avg10=") || !fields[2].starts_with("avg60=") ||
        !fields[4].starts_with("total=")) {
      return std::nullopt;
    }
    const auto avg10 = parse_share(fields[1].substr(6));
    const auto avg60 = parse_share(fields[2].substr(6));
    const auto total = parse_total(fields[4].substr(6));
    if (!avg10 || !avg60 || !total) return std::nullopt;
    return stall{*avg10, *avg60, *total};
  }
  return std::nullopt;
}

resource_pressure read_resource(const std::vector<place>& places, pressure_resource resource) {
  resource_pressure pressure;
  for (const place& where : places) {
    pressure.source = where.file(resource);
    const auto text = detail::read_source(pressure.source);
    const auto some = text ? parse_stall(*text, "some") : std::nullopt;
    if (!some) {
      pressure.some = pressure.full =
          text ? detail::makes_no_sense(pressure.source) : unavailable{text.reason()};
      continue;
    }
    pressure.some = *some;
    if (resource == pressure_resource::cpu && where.is_machine) {
      pressure.full = unavailable{"the kernel does not define it for the CPUs of a machine"};
    } else if (const auto full = parse_stall(*text, "full")) {
      pressure.full = *full;
    } else {
      pressure.full = unavailable{pressure.source + " has no line for full"};
    }
    break;
  }
  return pressure;
}

void validate(const pressure_trigger_options& options) {
  using std::chrono::microseconds;
  constexpr microseconds shortest = std::chrono::milliseconds(500);
  constexpr microseconds longest = std::chrono::seconds(10);
  require_within("pressure_trigger_options.window", options.window.count(), shortest.count(),
                 longest.count(), " us");
  require_within("pressure_trigger_options.stall_time", options.stall_time.count(),
                 microseconds::rep{1}, options.window.count(), " us");
}

// The descriptor, or -1 and errno.
int open_trigger(const std::string& file, const std::string& condition) {
  const int descriptor = ::open(file.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  if (descriptor < 0) return -1;
  // The kernel wants the terminating zero too.
  if (::write(descriptor, condition.c_str(), condition.size() + 1) >= 0) return descriptor;
  const int error = errno;
  ::close(descriptor);
  errno = error;
  return -1;
}

}  // namespace

pressure_sensor::pressure_sensor(pressure_sensor_options options)
    : root_(base::without_trailing_slashes(std::move(options.root))) {}

pressure_reading pressure_sensor::read() const {
  const auto places = find_places(root_);
  const std::vector<place> machine = {places.back()};
  return {.cpu = read_resource(places, pressure_resource::cpu),
          .memory = read_resource(places, pressure_resource::memory),
          .io = read_resource(places, pressure_resource::io),
          .machine_cpu = read_resource(machine, pressure_resource::cpu),
          .machine_memory = read_resource(machine, pressure_resource::memory),
          .machine_io = read_resource(machine, pressure_resource::io)};
}

sensed<pressure_trigger> pressure_trigger::open(const pressure_trigger_options& options) {
  validate(options);
  const std::string condition = "some " + std::to_string(options.stall_time.count()) + " " +
                                std::to_string(options.window.count());
  std::string refusals;
  for (const place& where : find_places(base::without_trailing_slashes(options.root))) {
    std::string file = where.file(options.resource);
    const int descriptor = open_trigger(file, condition);
    if (descriptor >= 0) return pressure_trigger(descriptor, std::move(file));
    const std::string why = std::generic_category().message(errno);
    refusals += (refusals.empty() ? "" : "; ") + file + ": " + why;
  }
  return unavailable{std::move(refusals)};
}

pressure_trigger::pressure_trigger(int descriptor, std::string source) noexcept
    : descriptor_(descriptor), source_(std::move(source)) {}

pressure_trigger::pressure_trigger(pressure_trigger&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)), source_(std::move(other.source_)) {}

pressure_trigger& pressure_trigger::operator=(pressure_trigger&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  std::swap(source_, other.source_);
  return *this;
}

pressure_trigger::~pressure_trigger() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace weft::adapt
