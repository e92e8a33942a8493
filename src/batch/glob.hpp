#pragma once

#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace weft::batch {

// The paths below `directory` that a pattern names, sorted, as the pattern writes them: relative
// stays relative. `*`, `?` and `[a-z]` match within a name, `**` any number of directories, `{a,b}`
// either. A name that begins with a dot must be asked for by a dot; links to directories are not
// followed by `**`. Without any of these characters it is the path itself, if it is there.
// What cannot be looked at is not found; `unreadable`, if given, gets its name and why.
[[nodiscard]] std::vector<std::string> expand(std::string_view pattern,
                                              const std::string& directory,
                                              const std::stop_token& stop,
                                              std::vector<std::string>* unreadable = nullptr);

// Whether the braces of a pattern stand for so few patterns that expand() looks at all of them.
[[nodiscard]] bool can_expand(std::string_view pattern);

// Whether a text, such as the id of a rule, matches: as above, but `*` stops at nothing.
[[nodiscard]] bool matches_glob(std::string_view pattern, const std::string& text);

}  // namespace weft::batch
